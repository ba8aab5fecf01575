// Reserves memory for the response of one request from the process's budget for unread responses; the reservation ends with the response.
import type { AnswerRoom } from "../../lib/answer-room.ts";
import type { Exchange } from "../server/exchange.ts";
import type { UnreadBudget } from "./unread-budget.ts";

/** The reservation is released when the response is handed to its socket, where it counts as unread, or when the exchange is over. */
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
