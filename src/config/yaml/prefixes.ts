// The beginnings of a text, each up to one of its separators, the shortest first.
export function cutsAt(text: string, separator: string): readonly string[] {
  const cuts: string[] = []
  for (let at = text.indexOf(separator); at !== -1; at = text.indexOf(separator, at + 1))
    cuts.push(text.slice(0, at))
  return cuts
}
