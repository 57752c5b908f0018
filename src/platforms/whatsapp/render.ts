// From an outbound op to the message that the API takes, files apart.
import type { OutboundOp, TextLimit } from '../../contract/index.ts'
import { cutToFit, sentForm, wholeForm } from '../../kit/markdown/index.ts'
import { interactiveOf } from './choices.ts'
import type { Fields } from './fields.ts'
import { whatsappMarkdown } from './markdown.ts'

export const TEXT_LIMIT: TextLimit = { size: 4_096, unit: 'utf-16' }
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
  const form = ours
    ? sentForm(cutToFit(op, TEXT_LIMIT, whatsappMarkdown), whatsappMarkdown)
    : wholeForm(op, TEXT_LIMIT, whatsappMarkdown, '')
  return urgent(op, form.text)
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
