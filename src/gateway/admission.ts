// Limits how many bytes of request bodies this process holds at once (8 GiB in files, 256 MiB in memory), before a body is read. Above it
// the answer is 503 and the body stays unread [api.admission].
import type { Principal } from "../auth/principal.ts";
import { GatewayError } from "../contract/errors.ts";

/** Audio passes through to files; a chat is held as it came, and in memory it is several times its size. */
export type BodyPlace = "file" | "memory";
export type BodyRoom = Readonly<Record<BodyPlace, number>>;

const ROOM_BYTES: BodyRoom = { file: 8 * 1024 ** 3, memory: 256 * 1024 ** 2 };
/** Of the room. Whoever holds more than this much of it leaves as much to the others: alone it may fill three quarters. */
const FAIR_SHARE = 1 / 4;

/** An administrator's key belongs to no app, and goes by its own id. */
type BodyOwner = string;
export const bodyOwner = ({ app, key }: Principal): BodyOwner => app?.id ?? key.id;

export interface ExpectedBody {
  readonly owner: BodyOwner;
  readonly place: BodyPlace;
  readonly bytes: number;
}

export interface AdmittedBody extends Disposable {
  /** So many bytes have come of a body that did not say how many there are. Throws OVERLOADED. */
  received(bytes: number): void;
}

export interface Admission {
  /** Held until it is disposed of. Throws OVERLOADED and SHUTTING_DOWN. */
  enter(body: ExpectedBody): AdmittedBody;
}

/** `isClosing`: nothing new is taken any more. While a process only drains, what still reaches it is served. */
export function createAdmission(isClosing: () => boolean, roomBytes: BodyRoom = ROOM_BYTES): Admission {
  const rooms = { file: createRoom(roomBytes.file), memory: createRoom(roomBytes.memory) };
  return {
    enter: ({ owner, place, bytes }) => {
      if (isClosing())
        throw new GatewayError("SHUTTING_DOWN", {
          message: "This process is shutting down. Retry: another one will answer.",
        });
      const held = new HeldBody(rooms[place], owner);
      held.received(bytes);
      return held;
    },
  };
}

class HeldBody implements AdmittedBody {
  readonly #room: Room;
  readonly #owner: BodyOwner;
  #bytes = 0;

  constructor(room: Room, owner: BodyOwner) {
    this.#room = room;
    this.#owner = owner;
  }

  received(bytes: number): void {
    if (bytes <= this.#bytes) return;
    if (!this.#room.take(this.#owner, bytes - this.#bytes))
      throw new GatewayError("OVERLOADED", {
        message: "The gateway holds as many request bodies as it can. Retry in a few seconds.",
        retryAfterSeconds: 5,
      });
    this.#bytes = bytes;
  }

  [Symbol.dispose](): void {
    this.#room.give(this.#owner, this.#bytes);
    this.#bytes = 0;
  }
}

interface Room {
  /** False: there is none, and nothing was taken. */
  take(owner: BodyOwner, bytes: number): boolean;
  give(owner: BodyOwner, bytes: number): void;
}

function createRoom(roomBytes: number): Room {
  const heldBy = new Map<BodyOwner, number>();
  const shareBytes = roomBytes * FAIR_SHARE;
  let heldBytes = 0;
  return {
    take(owner, bytes) {
      const all = heldBytes + bytes;
      const own = (heldBy.get(owner) ?? 0) + bytes;
      if (all > (own > shareBytes ? roomBytes - shareBytes : roomBytes)) return false;
      heldBytes = all;
      heldBy.set(owner, own);
      return true;
    },
    give(owner, bytes) {
      if (bytes === 0) return;
      heldBytes -= bytes;
      const left = (heldBy.get(owner) ?? 0) - bytes;
      if (left === 0) heldBy.delete(owner);
      else heldBy.set(owner, left);
    },
  };
}
