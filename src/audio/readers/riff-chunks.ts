// Recognises the chunks of RIFF, the container of WAV, by their ids, and whether a pad byte follows a chunk of odd size.

const CONTAINER_IDS: ReadonlySet<string> = new Set(["RIFF", "RIFX", "RF64", "BW64"]);
const KNOWN_IDS: ReadonlySet<string> = new Set(
  (
    "fmt ,data,fact,LIST,INFO,JUNK,junk,PAD ,FLLR,bext,cart,iXML,axml,aXML,cue ,plst,smpl,inst,labl,note,ltxt,PEAK,levl,umid," +
    "minf,elm1,regn,ds64,id3 ,ID3 ,_PMX,chna,DISP,afsp,wavl,slnt,acid,strc,SyLp,ResU,link,MD5 "
  ).split(","),
);

/** An id of another file that was appended, not of a chunk of this one. */
export const isContainerId = (id: string): boolean => CONTAINER_IDS.has(id);

export const isChunkId = (id: string): boolean => /^[\x20-\x7e]{4}$/.test(id);

/**
 * A chunk of odd size is followed by a pad byte, which many writers omit. The id at either position decides. If both are plausible, the specification's pad
 * byte wins.
 */
export function hasPadByte(idWithoutPad: string, idWithPad: string): boolean {
  return rankOf(idWithoutPad) <= rankOf(idWithPad);
}

function rankOf(id: string): number {
  if (KNOWN_IDS.has(id)) return 2;
  return isChunkId(id) ? 1 : 0;
}
