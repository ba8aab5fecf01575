// Sends the pieces of one session to the engine's process. While a piece is decoded, the next one is sent already and its features are computed, so that the
// engine does not wait for it [local.ahead]. The gain is in docs/decisions/0054.
import type { CallTerms, EngineProcess, PieceSamples } from "./engine/engine-process.ts";
import type { EngineValue } from "./engine/engine-protocol.ts";

export interface PieceSender {
  /** Sends it if a piece of this session is being decoded, and none is ahead already. `end` must be called. */
  begin(piece: PieceSamples, onSent?: () => void): PieceCall;
}

export interface PieceCall {
  /** Sends the piece unless this process has it. May be repeated with another process. */
  decode(process: EngineProcess, terms: CallTerms): Promise<EngineValue>;
  /** The process forgets a piece that was sent and not decoded. */
  end(): void;
}

interface Sent {
  readonly process: EngineProcess;
  readonly piece: number;
}

/** A piece is sent ahead of others of its own session only: an audio that ends the process ends no decode of another caller. */
export function createPieceSender(): PieceSender {
  /** Where a piece of this session is decoded. */
  let busy: EngineProcess | null = null;
  let ahead: Sent | null = null;

  function sendAhead(piece: PieceSamples, onSent?: () => void): Sent | null {
    if (busy === null || ahead !== null || !busy.isAlive()) return null;
    ahead = { process: busy, piece: busy.send(piece, onSent) };
    return ahead;
  }

  return {
    begin: (samples, onSent) => {
      let sent = sendAhead(samples, onSent);
      function take(): Sent | null {
        const taken = sent;
        if (taken !== null && ahead === taken) ahead = null;
        sent = null;
        return taken;
      }
      return {
        decode: async (process, terms) => {
          const taken = take();
          const piece = taken?.process === process ? taken.piece : process.send(samples, onSent);
          busy = process;
          try {
            return await process.call({ kind: "decode", piece }, terms);
          } finally {
            busy = null;
          }
        },
        end: () => {
          const unused = take();
          if (unused?.process.isAlive() === true) void unused.process.tell({ kind: "discard", piece: unused.piece });
        },
      };
    },
  };
}
