// The limits of Block Kit. Like Slack, the refusal names the block by a JSON pointer and says what is wrong.
import { type Answer, fail } from './method.ts'

const MOST_BLOCKS = 50
const MOST_MARKDOWN = 12_000
const MOST_BLOCK_TEXT = 13_200

type Block = Readonly<Record<string, unknown>>

/** Returns the refusal for the blocks of a message, or null for valid blocks. */
export function blocksProblem(blocks: unknown): Answer | null {
  if (!Array.isArray(blocks)) return fail('invalid_blocks_format')
  const messages: string[] = []
  // A markdown block becomes one block for each of its paragraphs, headings and lists.
  const made = (blocks as readonly Block[]).reduce((sum, block) => sum + blocksMadeOf(block), 0)
  if (made > MOST_BLOCKS)
    messages.push(`[ERROR] no more than ${MOST_BLOCKS} items allowed [json-pointer:/blocks]`)
  let total = 0
  let markdown = 0
  for (const [at, block] of (blocks as readonly Block[]).entries()) {
    const pointer = `/blocks/${at}`
    const shown = textOf(block)
    total += shown
    if (block?.type === 'markdown') markdown += shown
    messages.push(...problemsOf(block, pointer))
  }
  if (markdown > MOST_MARKDOWN)
    messages.push(`[ERROR] must be less than ${MOST_MARKDOWN + 1} characters [json-pointer:/blocks]`)
  if (messages.length > 0) return fail('invalid_blocks', { response_metadata: { messages } })
  return total > MOST_BLOCK_TEXT ? fail('msg_blocks_too_long') : null
}

function blocksMadeOf(block: Block): number {
  if (block?.type !== 'markdown' || typeof block.text !== 'string') return 1
  const [first = '', ...more] = block.text.split('```')
  // Everything between two fences is one block.
  const outside = [first, ...more.filter((_, at) => at % 2 === 1)].join('\n\n')
  const paragraphs = outside.split(/\n\s*\n/).filter((part) => part.trim() !== '')
  return paragraphs.length + Math.ceil(more.length / 2)
}

function textOf(block: Block): number {
  const text = block?.text
  if (typeof text === 'string') return text.length
  const inner = (text as { readonly text?: unknown } | undefined)?.text
  return typeof inner === 'string' ? inner.length : 0
}

function problemsOf(block: Block, pointer: string): readonly string[] {
  const tooLong = (value: unknown, most: number, at: string) =>
    typeof value === 'string' && value.length > most
      ? [`[ERROR] must be less than ${most + 1} characters [json-pointer:${pointer}${at}]`]
      : []
  const missing = (value: unknown, at: string) =>
    typeof value === 'string' && value !== ''
      ? []
      : [`[ERROR] missing required field: text [json-pointer:${pointer}${at}]`]
  const inner = (block?.text as { readonly text?: unknown } | undefined)?.text
  switch (block?.type) {
    case 'section':
      if (block.text === undefined && block.fields !== undefined) return []
      return [...missing(inner, '/text'), ...tooLong(inner, 3000, '/text/text')]
    case 'header':
      return [...missing(inner, '/text'), ...tooLong(inner, 150, '/text/text')]
    case 'markdown':
      return missing(block.text, '/text')
    case 'actions':
      return buttonProblems(block.elements, pointer)
    case 'context':
      return Array.isArray(block.elements) && block.elements.length <= 10
        ? []
        : [`[ERROR] no more than 10 items allowed [json-pointer:${pointer}/elements]`]
    case 'divider':
    case 'image':
    case 'rich_text':
    case 'table':
    case 'context_actions':
      return []
    default:
      return [`[ERROR] unsupported type: ${String(block?.type)} [json-pointer:${pointer}/type]`]
  }
}

function buttonProblems(elements: unknown, pointer: string): readonly string[] {
  if (!Array.isArray(elements) || elements.length === 0 || elements.length > 25)
    return [`[ERROR] between 1 and 25 items allowed [json-pointer:${pointer}/elements]`]
  const ids = new Set<string>()
  return (elements as readonly Block[]).flatMap((element, at) => {
    const here = `${pointer}/elements/${at}`
    const label = (element.text as { readonly text?: unknown } | undefined)?.text
    const found: string[] = []
    const most = (value: unknown, size: number, field: string) => {
      if (typeof value === 'string' && value.length > size)
        found.push(`[ERROR] must be less than ${size + 1} characters [json-pointer:${here}/${field}]`)
    }
    if (element.type === 'button') {
      most(label, 75, 'text/text')
      most(element.value, 2000, 'value')
    }
    most(element.action_id, 255, 'action_id')
    if (typeof element.action_id === 'string') {
      if (ids.has(element.action_id))
        found.push(`[ERROR] duplicate action_id [json-pointer:${here}/action_id]`)
      ids.add(element.action_id)
    }
    return found
  })
}
