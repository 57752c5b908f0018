// Renders sends for a channel server: the arguments of its outbound tool, permission requests in its dialect, and the
// meaning of its answer.
import {
  type ChannelPrefix,
  type OutboundArguments,
  type OutboundOp,
  type SendRequest,
  type ServerTool,
  type ServerToolResult,
  SwitchboardError,
} from '../../contract/index.ts'
import { truncate } from '../../kit/index.ts'
import { outboundArguments, type Unnamed } from './outbound-arguments.ts'

type Prompt = Extract<OutboundOp, { kind: 'prompt' }>

/** The seed's length of a preview for nexo servers. Under claude/ the preview is whole. */
const NEXO_PREVIEW_CHARS = 200

/** Returns the tool's arguments. Throws `platform_rejected` if the message or its place cannot be expressed. */
export function toolInput(
  { to, op }: Pick<SendRequest, 'to' | 'op'>,
  tool: ServerTool,
  mapped: OutboundArguments | null,
  unnamed: Unnamed = 'refuse',
): Readonly<Record<string, unknown>> {
  if (op.kind === 'call') return op.input
  return outboundArguments({ text: textOf(op), place: to }, tool, mapped, unnamed)
}

function textOf(op: Exclude<OutboundOp, { kind: 'call' }>): string {
  switch (op.kind) {
    case 'text': {
      const labels = (op.choices ?? []).map(({ label }) => `- ${label}`)
      const text = op.urgency === 'high' ? `❗ ${op.text}` : op.text
      return labels.length === 0 ? text : `${text}\n\n${labels.join('\n')}`
    }
    case 'prompt': {
      const how = `Reply "yes ${op.approval}" or "no ${op.approval}"`
      return op.text.includes(how) ? op.text : `${op.text}\n\n${how}`
    }
    case 'edit':
    case 'react':
    case 'file':
      throw new SwitchboardError('platform_rejected', `a channel server cannot be sent a ${op.kind}`)
  }
}

/** Five fields for nexo, or the four strings of Claude Code's contract for claude. */
export function permissionRequest(
  prefix: ChannelPrefix,
  op: Prompt,
): { readonly method: string; readonly params: Readonly<Record<string, unknown>> } {
  const { toolName = '', description = '', input = op.text } = op.ask ?? {}
  const params = { request_id: op.approval, tool_name: toolName, description, input_preview: input }
  const method = `notifications/${prefix}/channel/permission_request`
  return prefix === 'claude'
    ? { method, params }
    : { method, params: { schema: 1, ...params, input_preview: truncate(input, NEXO_PREVIEW_CHARS) } }
}

const MOST_IDS = 100
const LONGEST_ID_CHARS = 500
const ID_FIELDS = ['message_id', 'messageId', 'id', 'ts'] as const
const IDS_FIELDS = ['message_ids', 'messageIds', 'ids', 'platform_ids'] as const
// The official plugins write `sent (id: 7)` and `sent 2 parts (ids: 7, 8)`, and fakechat writes `sent (m7-1)`.
const WRITTEN_IDS = /\(ids?: ([^)]{1,400})\)|^sent \(([^():]{1,400})\)$/

/** Returns the message's ids if the answer has a known form, else none. */
export function messageIds({ structured, text }: ServerToolResult): readonly string[] {
  for (const field of IDS_FIELDS) {
    const value = structured?.[field]
    if (Array.isArray(value) && value.length > 0) return value.filter(isId).slice(0, MOST_IDS).map(String)
  }
  for (const field of ID_FIELDS) {
    const value = structured?.[field]
    if (isId(value)) return [String(value)]
  }
  const [, named, bare] = WRITTEN_IDS.exec(text) ?? []
  const written = named ?? bare
  return written === undefined || written === '-' ? [] : written.split(', ')
}

function isId(value: unknown): value is string | number {
  return (
    (typeof value === 'string' && value !== '' && value.length <= LONGEST_ID_CHARS) ||
    typeof value === 'number'
  )
}
