// Limits how many bytes of request bodies this process holds at once (8 GiB in files, 256 MiB in memory). Above the limit the answer is 503 and the body is not
// read [api.admission].
import type { Principal } from "../auth/principal.ts";
import { GatewayError } from "../contract/errors.ts";

/** Audio is written to files. A chat body is held in memory, where it takes several times its size. */
export type BodyPlace = "file" | "memory";
export type BodyRoom = Readonly<Record<BodyPlace, number>>;

const ROOM_BYTES: BodyRoom = { file: 8 * 1024 ** 3, memory: 256 * 1024 ** 2 };
/**
 * The fair share of an owner, as a fraction of the total. An owner above it must leave as much free for others, so that one owner alone holds at most three
 * quarters.
 */
const FAIR_SHARE = 1 / 4;

/** The app, or the key's own id for an administrator's key, which belongs to no app. */
type BodyOwner = string;
export const bodyOwner = ({ app, key }: Principal): BodyOwner => app?.id ?? key.id;

export interface ExpectedBody {
  readonly owner: BodyOwner;
  readonly place: BodyPlace;
  readonly bytes: number;
}

export interface AdmittedBody extends Disposable {
  /** Reports the bytes received so far of a body without a declared length. Throws OVERLOADED. */
  received(bytes: number): void;
}

export interface Admission {
  /** Reserves the bytes until the result is disposed of. Throws OVERLOADED and SHUTTING_DOWN. */
  enter(body: ExpectedBody): AdmittedBody;
}

/** `isClosing`: no new bodies are admitted. A process that is only draining still serves what reaches it. */
export function createAdmission(isClosing: () => boolean, roomBytes: BodyRoom = ROOM_BYTES): Admission {
  const rooms = { file: createRoom(roomBytes.file), memory: createRoom(roomBytes.memory) };
  return {
    enter: ({ owner, place, bytes }) => {
      if (isClosing())
        throw new GatewayError("SHUTTING_DOWN", {
          message: "This process is shutting down. Retry: another process will answer.",
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
        message: "The gateway cannot accept more request bodies at the moment. Retry in a few seconds.",
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
  /** Returns false, and reserves nothing, if there is no room. */
  take(owner: BodyOwner, bytes: number): boolean;
  give(owner: BodyOwner, bytes: number): void;
}

function createRoom(roomBytes: number): Room {
  const heldBy = new Map<BodyOwner, number>();
  const shareBytes = roomBytes * FAIR_SHARE;
  let heldBytes = 0;
  return {
    take(owner, bytes) {
      const totalBytes = heldBytes + bytes;
      const ownBytes = (heldBy.get(owner) ?? 0) + bytes;
      if (totalBytes > (ownBytes > shareBytes ? roomBytes - shareBytes : roomBytes)) return false;
      heldBytes = totalBytes;
      heldBy.set(owner, ownBytes);
      return true;
    },
    give(owner, bytes) {
      if (bytes === 0) return;
      heldBytes -= bytes;
      const remaining = (heldBy.get(owner) ?? 0) - bytes;
      if (remaining === 0) heldBy.delete(owner);
      else heldBy.set(owner, remaining);
    },
  };
}
