// From an outbound op to the message that the API takes, files apart.
import { type OutboundOp, SwitchboardError, type TextLimit } from '../../contract/index.ts'
import { readMarkdown, splitMarkdown } from '../../kit/markdown/index.ts'
import { interactiveOf } from './choices.ts'
import type { Fields } from './fields.ts'
import { literal, whatsappMarkdown } from './markdown.ts'

export const TEXT_LIMIT: TextLimit = { size: 4_096, unit: 'utf-16' }
const CUT_NOTE = '\n\n…'
const URGENT = '❗ '

type Op<K extends OutboundOp['kind']> = Extract<OutboundOp, { kind: K }>
type Words = Op<'text'> | Op<'prompt'>

/** `ours`: words of Switchboard's own are cut where they are too long; an agent's are whole or not sent. */
export function messageOf(op: Words, ours: boolean): Fields {
  if (op.kind === 'text' && op.template !== undefined) return templateOf(op.template)
  const text = bodyOf(op, ours)
  const { choices } = op
  if (choices !== undefined && choices.length > 0)
    return { type: 'interactive', interactive: interactiveOf(text, choices) }
  return { type: 'text', text: { body: text, preview_url: false } }
}

function bodyOf(op: Words, ours: boolean): string {
  const plain = op.kind === 'text' && op.plain === true
  const text = urgent(op, shown(op.text, plain))
  if (text.length <= TEXT_LIMIT.size) return text
  if (!ours)
    throw new SwitchboardError(
      'platform_rejected',
      `a message may have ${TEXT_LIMIT.size} characters, this one has ${text.length}`,
      { hint: 'make it shorter, or say the rest in a new message' },
    )
  const limit = { ...TEXT_LIMIT, size: TEXT_LIMIT.size - CUT_NOTE.length - URGENT.length }
  const [first = ''] = splitMarkdown(op.text, limit, plain ? 'plain' : whatsappMarkdown)
  return urgent(op, shown(first, plain) + CUT_NOTE)
}

function shown(text: string, plain: boolean): string {
  const rendered = plain ? literal(text) : whatsappMarkdown.render(readMarkdown(text)).text
  // Nothing but markup (an empty fence): better shown as it was written than refused as empty.
  return rendered.trim() === '' ? (text.trim() === '' ? '…' : literal(text)) : rendered
}

/** There is neither a colour nor a sound of its own: a mark in front. */
function urgent(op: Words, text: string): string {
  const marked = op.kind === 'text' && op.urgency === 'high' && text.length + URGENT.length <= TEXT_LIMIT.size
  return marked ? URGENT + text : text
}

function templateOf({ name, language, parameters }: NonNullable<Op<'text'>['template']>): Fields {
  const body = { type: 'body', parameters: parameters.map((text) => ({ type: 'text', text })) }
  return {
    type: 'template',
    template: {
      name,
      language: { code: language },
      ...(parameters.length === 0 ? {} : { components: [body] }),
    },
  }
}
