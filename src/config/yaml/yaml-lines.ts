// Adds an item to a list of a YAML text, changes one or removes one, line by line. Every other byte stays.
import { type Document, isCollection, isMap, isSeq, parseDocument, stringify, type YAMLSeq } from 'yaml'

type Path = readonly (string | number)[]

/** Null: the list is absent, empty, or written in one line. Then the caller changes the parsed document. */
export function withItem(text: string, path: Path, item: unknown): string | null {
  const { document, list } = blockList(text, path)
  const last = list?.items.at(-1)
  if (!document || !list || !isCollection(last) || !last.range) return null
  const lines = text.split('\n')
  const first = lineOf(text, (list.items[0] as { range: readonly number[] }).range[0] ?? 0)
  const dash = (lines[first] ?? '').indexOf('-')
  if (dash < 0) return null
  let end = lineOf(text, Math.max(0, last.range[1] - 1)) + 1
  // Lines that are indented deeper than the dash belong to the last item, comments too.
  for (let at = end; at < lines.length; at++) {
    const line = lines[at] ?? ''
    if (line.trim() === '') continue
    if (line.search(/\S/) <= dash) break
    end = at + 1
  }
  const margin = ' '.repeat(dash)
  const added = stringify([item], { lineWidth: 0 })
    .trimEnd()
    .split('\n')
    .map((line) => margin + line)
  if (end >= lines.length && lines.at(-1) !== '') lines.push('')
  lines.splice(Math.min(end, lines.length - 1), 0, ...added)
  return lines.join('\n')
}

/**
 * Changes one item of the list, by its own lines. The lines before and after it stay, comments too. Null: the list is absent or
 * written in one line, or the item shares lines with others, or refers to them.
 */
export function withChangedItem(
  text: string,
  path: Path,
  index: number,
  change: (item: Document) => void,
): string | null {
  const { list } = blockList(text, path)
  const item = list?.items[index] as { readonly range?: readonly [number, number, number] } | undefined
  if (!item?.range) return null
  const lines = text.split('\n')
  const first = lineOf(text, item.range[0])
  const end = lineOf(text, Math.max(item.range[0], item.range[1] - 1)) + 1
  const dash = (lines[first] ?? '').search(/\S/)
  if (!(lines[first] ?? '').slice(dash).startsWith('- ')) return null
  const own = lines.slice(first, end)
  if (own.some((line) => line.slice(0, dash).trim() !== '')) return null
  const document = parseDocument(own.map((line) => line.slice(dash)).join('\n'))
  if (document.errors.length > 0) return null
  try {
    change(document)
    const changed = document.toString({ lineWidth: 0 }).trimEnd().split('\n')
    const margin = ' '.repeat(dash)
    lines.splice(first, end - first, ...changed.map((line) => (line === '' ? '' : margin + line)))
  } catch {
    return null // an alias of something elsewhere in the file
  }
  return lines.join('\n')
}

/** Null: it shares lines with others, or it is the only item and the key of its list has no line of its own. */
export function withoutItem(text: string, path: Path, index: number): string | null {
  const { list } = blockList(text, path)
  const item = list?.items[index] as { readonly range?: readonly [number, number, number] } | undefined
  if (!list || !item?.range) return null
  const lines = text.split('\n')
  const first = lineOf(text, item.range[0])
  if (!/^\s*- /.test(lines[first] ?? '')) return null
  if (list.items.length === 1) {
    const key = lines.slice(0, first).findLastIndex((line) => line.trimStart().startsWith(`${path.at(-1)}:`))
    const [, written = '', rest = ''] = /^(\s*\w+:)\s*(#.*)?$/.exec(lines[key] ?? '') ?? []
    if (written === '') return null
    lines[key] = `${written} []${rest === '' ? '' : ` ${rest}`}`
  }
  lines.splice(first, lineOf(text, Math.max(item.range[0], item.range[1] - 1)) - first + 1)
  return lines.join('\n')
}

function blockList(text: string, path: Path): { document: Document | null; list: YAMLSeq | null } {
  const document = parseDocument(text)
  const list = document.errors.length > 0 ? null : document.getIn(path)
  if (!isSeq(list) || list.flow === true || list.items.length === 0) return { document: null, list: null }
  return { document, list: list.items.every((one) => isMap(one)) ? list : null }
}

function lineOf(text: string, at: number): number {
  let line = 0
  for (let from = text.indexOf('\n'); from !== -1 && from < at; from = text.indexOf('\n', from + 1)) line++
  return line
}
