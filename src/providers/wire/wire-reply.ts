// A provider's reply to one HTTP exchange.
export interface WireReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** The whole body, at most the request's `maxReplyBytes`, or the beginning of a large one. */
  readonly text: string;
  /** Measured already: few enough values and little enough depth to be parsed on the event loop. */
  readonly isLight?: boolean;
  /** Of a large body: its parsed JSON, undefined if it is not JSON. */
  readonly parsed?: { readonly body: unknown; readonly sizeBytes: number };
}
