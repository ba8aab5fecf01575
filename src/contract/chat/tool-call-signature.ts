// Encodes the signature that a provider requires back with a tool call into the call's id, so that clients which keep only known fields return it too.

/** Long enough to occur in no server's own ids: a shorter mark could make calls with the same prefix collide. */
const SIGNATURE_MARK = "~patchbay-signature~";
const ORIGIN = /^c\.([0-9a-f]{8})\./u;

/** `origin`: 8 hexadecimal digits for the model of a compatible server that signed it. Null: Gemini itself. */
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
