// The subprotocols that a WebSocket client offers: the name of the protocol, and a token in the place of a key, because a browser can set
// no other header [realtime.token-subprotocol].
import { isRealtimeToken } from "../../auth/realtime-tokens.ts";

const SUBPROTOCOL = "patchbay.v1";
const TOKEN_PREFIX = "patchbay.token.";

/** The token among what is offered, named as such or bare. */
export function tokenAmong(offered: Iterable<string>): string | null {
  const names = [...offered];
  const named = names.find((each) => each.startsWith(TOKEN_PREFIX));
  return named?.slice(TOKEN_PREFIX.length) ?? names.find(isRealtimeToken) ?? null;
}

/**
 * The one to answer with: ours, which carries no secret. A client that offers nothing but its token accepts no other answer than that,
 * and by then it is spent.
 */
export function chooseSubprotocol(offered: ReadonlySet<string>): string | false {
  if (offered.has(SUBPROTOCOL)) return SUBPROTOCOL;
  const [only] = offered;
  return offered.size === 1 && only !== undefined && tokenAmong(offered) !== null ? only : false;
}
