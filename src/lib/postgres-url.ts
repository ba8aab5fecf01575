// The address of a PostgreSQL server, judged before anybody dials it (contract 10).

const FORM = /^postgres(?:ql)?:\/\/[^/?#\s]*(\S*)$/u;
/** What a password leaves behind that ended the authority, which may have an @ of that password's: the rest of it, and the host with what follows. */
const CUT_OFF = /^(?:[/#][^?]*|\?[^=]*)@[^/]*[:/]/u;

export function isPostgresUrl(text: string): boolean {
  return /^postgres(?:ql)?:\/\/\S+$/u.test(text);
}

export const WRITE_ENCODED =
  "cannot be read as the URL of one server: in a user name or password write / as %2F, # as %23, ? as %3F, @ as %40 and % as %25";

/** Nothing that the driver takes is refused, but for a password of which it would dial a part as a host or port. */
export function isReadablePostgresUrl(text: string): boolean {
  const [, rest = ""] = FORM.exec(text) ?? [];
  // Without a host it means a socket, which the driver takes and `URL` does not.
  return !CUT_OFF.test(rest) && (URL.canParse(text) || URL.canParse(text.replace("@/", "@socket/")));
}
