// What run-webhooks.ts and its senders agree on.

export interface SenderSetup {
  readonly databaseUrl: string;
  readonly receiverPort: number;
  readonly timeoutMs: number;
}

/** A public one, as the guard requires; the senders' connector takes it for the run's own receiver. */
export const ADDRESS = "93.184.216.34";
