// Removes from a captured text what differs between runs: times, ids, ports, paths, digests. Ids keep their order, so a
// reference to another row's id stays visible.

const PATTERNS: readonly (readonly [RegExp, string])[] = [
  [/\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g, '<time>'],
  [/\b\d{4}-\d\d-\d\d \d\d:\d\d(:\d\d)?\b/g, '<time>'],
  [/\b[0-9a-f]{64}\b/g, '<digest>'],
  [/\bswb_[A-Za-z0-9_-]{20,}/g, '<token>'],
  [/\b(127\.0\.0\.1|localhost):\d{4,5}\b/g, '$1:<port>'],
  [
    /"(\w*_ms|uptime|pid|port|bytes|size|\w+_bytes|rss|entries|open_files|lag)":-?\d+(\.\d+)?/g,
    '"$1":<number>',
  ],
  [/\b([a-z]{1,2})_[a-z0-9]{6}_([0-9a-z]+)\b/g, '$1_$2'],
  [/\b(h|tok)_[0-9a-f]{20,32}\b/g, '$1_<id>'],
  [/\b([a-z]+-ticket)_[\w-]{43}/g, '$1_<secret>'],
  [/"(\w+At)":\d{13}\b/g, '"$1":<time>'],
  [/"head":"[\w-]{43}"/g, '"head":"<digest>"'],
  [/"node":"\d+\.\d+\.\d+"/g, '"node":"<version>"'],
]
const UUID = /\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/g

/** Use one for a whole capture. The same uuid then has the same number in all files. */
export function createPlainText(words: readonly (readonly [string, string])[]) {
  const uuids = new Map<string, string>()
  return (text: string): string => {
    let plain = text
    for (const [pattern, instead] of PATTERNS) plain = plain.replace(pattern, instead)
    // A short word, such as the name of a machine, may occur within ids by chance. So only whole words are replaced.
    for (const [word, instead] of words) plain = plain.replace(wholeWord(word), instead)
    return plain.replace(UUID, (uuid) => {
      const known = uuids.get(uuid) ?? `<uuid ${uuids.size + 1}>`
      uuids.set(uuid, known)
      return known
    })
  }
}

function wholeWord(word: string): RegExp {
  // A path begins with a slash, and may follow the `\n` of a JSON string.
  const start = /^\w/.test(word) ? '(?<![\\w-])' : ''
  return new RegExp(`${start}${word.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}(?![\\w-])`, 'g')
}

/** Removes the ages from a table for people, and the width that they give their columns. */
export function withoutAges(text: string): string {
  return text
    .replace(/\bin \d+[smhdw]\b(?! ago)/g, 'in <time>')
    .replace(/\b(\d+(ms|s|m)( ago)?|now)\b/g, '<ago>')
    .replace(/ {2,}/g, '  ')
}
