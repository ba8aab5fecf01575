// The head of a WAV file of bare samples, as we write it: what a target's limit on bytes leaves for the samples depends on it.
export const WAV_HEADER_BYTES = 44;
