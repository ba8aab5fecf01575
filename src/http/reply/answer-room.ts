// Reserves memory for the answer of one exchange from the budget of unread answers.
import type { AnswerRoom } from "../../lib/answer-room.ts";
import type { Exchange } from "../server/exchange.ts";
import type { UnreadBudget } from "./unread-budget.ts";

/** Given back when the answer is handed to its socket, which counts it from then on, or when the exchange is over. */
export function createAnswerRoom(unread: UnreadBudget, exchange: Exchange): AnswerRoom {
  return {
    signal: exchange.signal,
    reserve: (bytes) => {
      if (exchange.reservation === null) {
        exchange.reservation = unread.reserve(exchange.socket);
        exchange.onClose(() => exchange.releaseReservation());
      }
      exchange.reservation?.grow(bytes);
    },
  };
}
