// The size of the WAV header that the gateway writes. It counts against a target's size limit.
export const WAV_HEADER_BYTES = 44;
