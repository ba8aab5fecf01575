// Selects the subprotocol of a WebSocket. Clients offer the protocol's name and a token instead of a key, because a browser can set no other header
// [realtime.token-subprotocol].
import { isRealtimeToken } from "../../auth/realtime-tokens.ts";

const SUBPROTOCOL = "patchbay.v1";
const TOKEN_PREFIX = "patchbay.token.";

/** The token among the offered subprotocols, with or without its prefix. */
export function tokenAmong(offered: Iterable<string>): string | null {
  const names = [...offered];
  const prefixed = names.find((each) => each.startsWith(TOKEN_PREFIX));
  return prefixed?.slice(TOKEN_PREFIX.length) ?? names.find(isRealtimeToken) ?? null;
}

/**
 * Returns this API's protocol name, which contains no secret. A client that offers only its token accepts no other value; by then the token has
 * been used up.
 */
export function chooseSubprotocol(offered: ReadonlySet<string>): string | false {
  if (offered.has(SUBPROTOCOL)) return SUBPROTOCOL;
  const [firstOffer] = offered;
  return offered.size === 1 && firstOffer !== undefined && tokenAmong(offered) !== null ? firstOffer : false;
}
