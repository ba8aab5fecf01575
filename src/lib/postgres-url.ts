// Validates the URL of a PostgreSQL server before it is used, and explains which characters must be percent-encoded.

const FORM = /^postgres(?:ql)?:\/\/[^/?#\s]*(\S*)$/u;
/** What follows an unencoded / ? or # in a password: the rest of the password, which may contain an @, then the real host. */
const CUT_OFF = /^(?:[/#][^?]*|\?[^=]*)@[^/]*[:/]/u;

export function isPostgresUrl(text: string): boolean {
  return /^postgres(?:ql)?:\/\/\S+$/u.test(text);
}

export const WRITE_ENCODED =
  "cannot be read as the URL of one server: in a user name or password write / as %2F, # as %23, ? as %3F, @ as %40 and % as %25";

/** Accepts what the driver accepts, except a password of which the driver would use a part as host or port. */
export function isReadablePostgresUrl(text: string): boolean {
  const [, rest = ""] = FORM.exec(text) ?? [];
  // Without a host it means a Unix socket, which the driver accepts and `URL` does not.
  return !CUT_OFF.test(rest) && (URL.canParse(text) || URL.canParse(text.replace("@/", "@socket/")));
}
