// A validated request for a transcript, synchronous or by a job, and the part of it that routing and billing need.
import type { AnswerRoom } from "../../lib/answer-room.ts";
import type { AudioInput } from "../../audio/audio-input.ts";
import type { Principal } from "../../auth/principal.ts";
import type { RequestId } from "../../contract/ids.ts";
import type { TranslationFields } from "../../contract/transcription/transcription-fields.ts";
import type { Requirements } from "../../routing/required-features.ts";
import type { PurposePolicy } from "../../routing/types.ts";
import type { Recorder } from "../request-record.ts";

export interface AudioCall extends RoutedCall {
  readonly audio: AudioInput;
  readonly idempotencyKey: string | null;
  /** Where memory for a stored answer is reserved. */
  readonly room?: AnswerRoom;
  /** `response_format` was not sent but derived from the Accept header. It is not part of the payload. */
  readonly formatByAccept?: boolean;
}

/** What routing and billing need, whatever the source of the audio. */
export interface RoutedCall {
  readonly requestId: RequestId;
  readonly endpoint: string;
  readonly task: Requirements["task"];
  readonly principal: Principal;
  /** `to_language` is used by translations only. */
  readonly fields: TranslationFields;
  readonly purposeHeader: string | null;
  readonly policyHeader: PurposePolicy | null;
  readonly recorder: Recorder;
}
