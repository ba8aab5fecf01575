// Handles form parts named `file`, of which one is the audio. Browsers send a file input without a selected file as a part without name and bytes,
// which is ignored if there is another source [request-body.unchosen-file].
import type { AudioIntake } from "../audio-intake.ts";
import type { Faults } from "../validation-issues.ts";
import { IGNORED, type PartReceiver } from "./multipart.ts";
import type { PartHeaders } from "./part-headers.ts";

export interface FormFiles {
  take(part: PartHeaders): PartReceiver;
  /** Call after all parts were read. Returns the audio part, if any. */
  end(hasUrl: boolean): PartHeaders | null;
}

export function createFormFiles(intake: AudioIntake, faults: Faults): FormFiles {
  let audioPart: PartHeaders | null = null;
  let emptyPart: PartHeaders | null = null;

  function begin(part: PartHeaders): PartReceiver {
    if (audioPart !== null) {
      faults.add("file", "`file` was sent more than once.");
      return IGNORED;
    }
    audioPart = part;
    return { data: intake.beginBytes("file"), end: () => undefined };
  }

  /** Counts as a file only from its first byte on. */
  function beginOnFirstByte(part: PartHeaders): PartReceiver {
    let receiver: PartReceiver | null = null;
    return {
      data(bytes) {
        receiver ??= begin(part);
        return receiver.data(bytes);
      },
      end() {
        if (receiver === null) emptyPart = part;
      },
    };
  }

  return {
    take(part) {
      if (part.fileName === null) {
        faults.add("file", "`file` must be a file part with a file name, not a plain field.");
        return IGNORED;
      }
      return part.fileName === "" ? beginOnFirstByte(part) : begin(part);
    },
    end(hasUrl) {
      // Without any other source, the empty part is the audio.
      if (emptyPart !== null && intake.params.length === 0 && !hasUrl) begin(emptyPart);
      return audioPart;
    },
  };
}
