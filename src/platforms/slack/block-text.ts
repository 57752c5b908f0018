// Reads Block Kit blocks as text in Slack's notation, for messages without other text and for pasted tables. Linear,
// and bounded in depth and length.

const MOST_CHARACTERS = 40_000
const DEEPEST = 8

interface Node {
  readonly type?: unknown
  readonly text?: unknown
  readonly elements?: unknown
  readonly fields?: unknown
  readonly rows?: unknown
  readonly url?: unknown
  readonly user_id?: unknown
  readonly channel_id?: unknown
  readonly usergroup_id?: unknown
  readonly range?: unknown
  readonly name?: unknown
}

/** Blocks that begin a new line. */
const LINES: ReadonlySet<unknown> = new Set([
  'section',
  'header',
  'context',
  'markdown',
  'rich_text',
  'rich_text_section',
  'rich_text_preformatted',
  'rich_text_quote',
  'table',
])

export function blockText(blocks: unknown): string {
  const parts: string[] = []
  let left = MOST_CHARACTERS
  const put = (text: string) => {
    if (left <= 0 || text === '') return
    parts.push(text.slice(0, left))
    left -= text.length
  }
  const walk = (given: unknown, depth: number): void => {
    if (left <= 0 || depth > DEEPEST || typeof given !== 'object' || given === null) return
    if (Array.isArray(given)) {
      for (const one of given) walk(one, depth + 1)
      return
    }
    const node = given as Node
    if (node.type === 'actions' || node.type === 'button') return
    if (node.type === 'table' && Array.isArray(node.rows)) {
      for (const row of node.rows) {
        const cells = Array.isArray(row) ? row : []
        for (const [at, cell] of cells.entries()) {
          if (at > 0) put(' | ')
          walk(cell, depth + 1)
        }
        put('\n')
      }
      return
    }
    put(leafText(node))
    walk(node.text, depth + 1)
    walk(node.fields, depth + 1)
    walk(node.elements, depth + 1)
    if (LINES.has(node.type)) put('\n')
  }
  walk(blocks, 0)
  return parts
    .join('')
    .replace(/(?<![ \t])[ \t]+\n/g, '\n')
    .replace(/\n{2,}/g, '\n')
    .trim()
}

function leafText({ type, text, url, user_id, channel_id, range, name, usergroup_id }: Node): string {
  if (type === 'user' && typeof user_id === 'string') return `<@${user_id}>`
  if (type === 'channel' && typeof channel_id === 'string') return `<#${channel_id}>`
  if (type === 'usergroup' && typeof usergroup_id === 'string') return `<!subteam^${usergroup_id}>`
  if (type === 'broadcast' && typeof range === 'string') return `<!${range}>`
  if (type === 'emoji' && typeof name === 'string') return `:${name}:`
  if (type === 'link' && typeof url === 'string')
    return typeof text === 'string' && text !== '' ? `<${url}|${text}>` : `<${url}>`
  return typeof text === 'string' ? text : ''
}
