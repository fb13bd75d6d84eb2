// Where a quotation is in the text of a page, however the page is broken into lines and pieces.

const MIN_BLOCK = 12; // letters; shorter matches happen by chance
const MAX_GAP = 40; // letters between two matches that one box may cover: a note mark, a changed word
const MIN_STRETCH = 24; // letters
export const MIN_SHARE = 0.5; // of the quotation; below this nothing is marked

// The letters and digits of pieces of text, and for each its piece and place in it.
export function lettersOf(pieces) {
  const letters = [];
  const places = [];
  pieces.forEach((piece, number) => {
    for (let at = 0; at < piece.length; ) {
      const sign = String.fromCodePoint(piece.codePointAt(at));
      for (const letter of sign.normalize("NFKD").toLowerCase().match(/[\p{L}\p{N}]/gu) || []) {
        letters.push(letter);
        places.push([number, at, at + sign.length]);
      }
      at += sign.length;
    }
  });
  return { letters, places };
}

// The longest run of letters that two ranges share: [start in one, start in the other, length].
function longestRun(one, other, [from, to], [start, end]) {
  let best = [0, 0, 0];
  let before = new Uint16Array(end - start + 1);
  for (let at = from; at < to; at += 1) {
    const now = new Uint16Array(end - start + 1);
    for (let place = start; place < end; place += 1) {
      if (one[at] !== other[place]) continue;
      const length = before[place - start] + 1;
      now[place - start + 1] = length;
      if (length > best[2]) best = [at - length + 1, place - length + 1, length];
    }
    before = now;
  }
  return best;
}

function sharedRuns(one, other, range, where) {
  if (range[1] - range[0] < 1 || where[1] - where[0] < 1) return [];
  const [at, place, length] = longestRun(one, other, range, where);
  if (length < Math.min(MIN_BLOCK, one.length)) return [];
  return [
    ...sharedRuns(one, other, [range[0], at], [where[0], place]),
    [at, place, length],
    ...sharedRuns(one, other, [at + length, range[1]], [place + length, where[1]]),
  ];
}

// The parts of the pieces that say the quotation, as [piece, start, end], and the share of it that they say.
export function findQuote(quote, pieces) {
  const wanted = lettersOf([quote]).letters;
  const { letters, places } = lettersOf(pieces);
  const runs = wanted.length ? sharedRuns(wanted, letters, [0, wanted.length], [0, letters.length]) : [];
  let stretches = []; // [start, end, letters that match]
  for (const [, place, length] of runs) {
    const last = stretches.at(-1);
    if (last && place - last[1] <= MAX_GAP) [last[1], last[2]] = [place + length, last[2] + length];
    else stretches.push([place, place + length, length]);
  }
  // A column or a figure may come between two parts of a sentence, but each of them says a good part of it.
  stretches = stretches.filter(([, , length]) => length >= Math.min(MIN_STRETCH, wanted.length / 2));
  const share = stretches.reduce((sum, [, , length]) => sum + length, 0) / Math.max(1, wanted.length);
  if (share < MIN_SHARE) return { share, parts: [] };
  const parts = new Map(); // one for each piece and stretch
  stretches.forEach(([start, end], stretch) => {
    for (const [piece, begin, stop] of places.slice(start, end)) {
      const key = `${stretch} ${piece}`;
      const part = parts.get(key);
      if (part) part[2] = stop;
      else parts.set(key, [piece, begin, stop]);
    }
  });
  return { share, parts: [...parts.values()] };
}
