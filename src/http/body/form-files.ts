// The parts of a form that are named `file`: one is the audio. A file input without a choice is sent by browsers without name and bytes,
// and is no source next to another one [request-body.unchosen-file].
import type { AudioIntake } from "./audio-intake.ts";
import type { Faults } from "./validation-issues.ts";
import { IGNORED, type PartReceiver } from "./multipart.ts";
import type { PartHeaders } from "./part-headers.ts";

export interface FormFiles {
  take(part: PartHeaders): PartReceiver;
  /** All parts are read. The one that was taken, if any. */
  end(hasUrl: boolean): PartHeaders | null;
}

export function createFormFiles(intake: AudioIntake, faults: Faults): FormFiles {
  let taken: PartHeaders | null = null;
  let unchosen: PartHeaders | null = null;

  function begin(part: PartHeaders): PartReceiver {
    if (taken !== null) {
      faults.add("file", "`file` was sent more than once.");
      return IGNORED;
    }
    taken = part;
    return { data: intake.beginBytes("file"), end: () => undefined };
  }

  /** Its first byte says that it is one. */
  function beginLate(part: PartHeaders): PartReceiver {
    let begun: PartReceiver | null = null;
    return {
      data(bytes) {
        begun ??= begin(part);
        return begun.data(bytes);
      },
      end() {
        if (begun === null) unchosen = part;
      },
    };
  }

  return {
    take(part) {
      if (part.fileName === null) {
        faults.add("file", "`file` must be a file part with a file name, not a plain field.");
        return IGNORED;
      }
      return part.fileName === "" ? beginLate(part) : begin(part);
    },
    end(hasUrl) {
      // Where nothing else carries audio it is the audio, and empty.
      if (unchosen !== null && intake.params.length === 0 && !hasUrl) begin(unchosen);
      return taken;
    },
  };
}
