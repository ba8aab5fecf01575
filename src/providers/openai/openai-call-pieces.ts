// Assembles streamed tool calls of the OpenAI protocol from pieces: by index, by id, or, for servers that send neither, by name and complete arguments.
import { createJsonScanner, type JsonScanner } from "../../lib/json/json-scanner.ts";
import type { ChatEvent, ChatFinishReason } from "../chat/chat-provider.ts";
import { MOST_PARTS, uniqueCallId } from "../chat/chat-values.ts";
import { ProviderError } from "../io.ts";

/** Null or empty: not sent. */
export interface CallPiece {
  readonly index: number | null;
  readonly id: string | null | undefined;
  readonly name: string | null | undefined;
  readonly arguments: string;
  /** Adds to a call's id the data that the provider needs to get back with it. */
  readonly sign?: (id: string) => string;
}

interface OpenCall {
  readonly wireId: string | null;
  readonly name: string;
  readonly written: JsonScanner;
  hasArguments: boolean;
}

export interface CallSorter {
  readonly count: () => number;
  /** Adds the pieces of one message. */
  read(pieces: readonly CallPiece[], events: ChatEvent[]): void;
  /** Events that complete the calls without arguments. */
  rest(finish: ChatFinishReason): readonly ChatEvent[];
}

export function createCallSorter(): CallSorter {
  const calls: OpenCall[] = [];
  const ids = new Set<string>();
  /** The last call of each index on the wire. */
  const positions = new Map<number, number>();

  /** -1: the piece begins a new call. */
  function positionOf(piece: CallPiece): number {
    const { index, id, name } = piece;
    const at = index === null ? positionWithoutIndex(id) : (positions.get(index) ?? -1);
    const call = calls[at];
    if (call === undefined || beginsCall(piece, call)) return -1;
    if (!id || id === call.wireId) return at;
    // A server may send a call's name after its first piece.
    return call.wireId === null && !name ? at : -1;
  }

  function positionWithoutIndex(id: CallPiece["id"]): number {
    const position = id ? calls.findLastIndex(({ wireId }) => wireId === id) : -1;
    return position === -1 ? calls.length - 1 : position;
  }

  function readPiece(piece: CallPiece): ChatEvent | null {
    const { id, name, arguments: written } = piece;
    const position = positionOf(piece);
    const openCall = calls[position];
    if (openCall !== undefined) {
      openCall.hasArguments ||= written !== "";
      openCall.written.feed(written);
      return { type: "tool_call", index: position, arguments: written };
    }
    if (!name && !id && written === "") return null;
    if (!name) throw new ProviderError("bad_reply", { reason: "nameless_call" });
    if (calls.length >= MOST_PARTS) throw new ProviderError("bad_reply", { reason: "too_many_calls" });
    const call = { wireId: id || null, name, written: createJsonScanner(), hasArguments: written !== "" };
    call.written.feed(written);
    if (piece.index !== null) positions.set(piece.index, calls.length);
    calls.push(call);
    const ownId = uniqueCallId(ids, id);
    return {
      type: "tool_call",
      index: calls.length - 1,
      id: piece.sign?.(ownId) ?? ownId,
      name,
      arguments: written,
    };
  }

  return {
    count: () => calls.length,
    read: (pieces, events) => {
      for (const [place, piece] of pieces.entries()) {
        // Several pieces in one message are in the order of their calls.
        const index = piece.index ?? (pieces.length > 1 ? place : null);
        const event = readPiece({ ...piece, index });
        if (event !== null) events.push(event);
      }
    },
    rest: (finish) =>
      calls.flatMap(({ hasArguments }, index): readonly ChatEvent[] =>
        hasArguments || finish === "length" ? [] : [{ type: "tool_call", index, arguments: "{}" }],
      ),
  };
}

/** A new call begins with another name, or with a name after complete arguments. Some servers repeat id and name with every piece, the last one empty. */
function beginsCall({ id, name, arguments: written }: CallPiece, call: OpenCall): boolean {
  if (!name) return false;
  return name !== call.name || (call.written.isComplete() && (!id || written.trim() !== ""));
}
