// The limits of the HTTP level and the timeouts for slow clients [api.head-limits]. Tests pass smaller ones.

export interface EdgeLimits {
  readonly maxTargetBytes: number;
  readonly maxHeaderBytes: number;
  readonly maxHeaderFields: number;
  readonly headersTimeoutMs: number;
  readonly checkIntervalMs: number;
  /** Longer than the 60 s after which common balancers drop an idle connection. */
  readonly keepAliveMs: number;
  readonly bodyGraceMs: number;
  readonly bodyWindowMs: number;
  readonly minBodyBytesPerSecond: number;
  /** How long a connection stays open, half-closed, after a reply that left its request unread. */
  readonly lingerMs: number;
  /** A rest of the body up to this size is read and thrown away; of a larger one nothing more is read. */
  readonly lingerBytes: number;
  /** After so long without a byte taken, whoever is to read a reply is taken for gone. */
  readonly unreadReplyMs: number;
}

export const EDGE_LIMITS: EdgeLimits = {
  maxTargetBytes: 8_192,
  maxHeaderBytes: 16_384,
  maxHeaderFields: 100,
  headersTimeoutMs: 15_000,
  checkIntervalMs: 5_000,
  keepAliveMs: 75_000,
  bodyGraceMs: 10_000,
  bodyWindowMs: 5_000,
  minBodyBytesPerSecond: 8_192,
  lingerMs: 1_000,
  lingerBytes: 32_768,
  unreadReplyMs: 60_000,
};
