// Turns an outbound op into the API's message. Files are handled separately.
import type { OutboundOp, TextLimit } from '../../contract/index.ts'
import { cutToFit, sentForm, wholeForm } from '../../kit/markdown/index.ts'
import { interactiveOf } from './choices.ts'
import type { Fields } from './fields.ts'
import { whatsappMarkdown } from './markdown.ts'

export const TEXT_LIMIT: TextLimit = { size: 4_096, unit: 'utf-16' }
const URGENT = '❗ '

type Op<K extends OutboundOp['kind']> = Extract<OutboundOp, { kind: K }>
type Words = Op<'text'> | Op<'prompt'>

/** `ours`: texts of Switchboard itself are cut if they are too long. An agent's are sent whole or not at all. */
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

/** WhatsApp has no urgency, so a mark stands before the text. */
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
