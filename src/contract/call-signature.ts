// Signatures of tool calls, which providers want to see again with the call: they are part of the call's id, so that clients which keep
// only the fields that they know bring them back too.

/** No server writes it into ids of its own: a shorter one would make calls of the same id of what is before it. */
const SIGNATURE_MARK = "~patchbay-signature~";
const ORIGIN = /^c\.([0-9a-f]{8})\./u;

/** `origin`: which model of a compatible server signed it, in 8 hexadecimal digits; null: Gemini itself. */
export function signedId(id: string, signature: string | undefined, origin: string | null = null): string {
  if (signature === undefined) return id;
  return `${id}${SIGNATURE_MARK}${origin === null ? "" : `c.${origin}.`}${signature}`;
}

export interface SplitId {
  readonly id: string;
  readonly signature: string | null;
  readonly origin: string | null;
}

export function splitSignedId(signed: string): SplitId {
  const at = signed.indexOf(SIGNATURE_MARK);
  if (at === -1) return { id: signed, signature: null, origin: null };
  const rest = signed.slice(at + SIGNATURE_MARK.length);
  const origin = ORIGIN.exec(rest);
  const signature = origin === null ? rest : rest.slice(origin[0].length);
  return { id: signed.slice(0, at), signature, origin: origin?.[1] ?? null };
}
