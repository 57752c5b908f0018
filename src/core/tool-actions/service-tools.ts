// service_tools and call_service_tool: the tools that a Chorus service lent with the newest delivery of a conversation.
// A caller reaches only those of its own conversations.
import {
  type ServiceToolResult,
  type ServiceToolSource,
  type Store,
  SwitchboardError,
  type ToolActions,
  type ToolCaller,
  type ToolOutcome,
} from '../../contract/index.ts'
import type { OwnChats } from './own-chats.ts'
import { toolOutcome } from './tool-outcome.ts'

/** Content blocks beyond this are left out. The model reads the text of the result. */
const MAX_CONTENT_CHARS = 65_536

export function createServiceTools(
  deps: { readonly store: Pick<Store, 'sessionAt'>; readonly lent?: ServiceToolSource },
  chats: OwnChats,
): Pick<ToolActions, 'serviceTools' | 'callServiceTool'> {
  /** Throws `not_found` for a conversation that is not the caller's. */
  const sessionOf = async (caller: ToolCaller, chatId: string): Promise<string | null> => {
    const at = await chats.mine(caller, chatId)
    return (await deps.store.sessionAt(caller.agent, at))?.id ?? null
  }

  return {
    serviceTools: (caller, { chatId }) =>
      toolOutcome(async () => {
        const session = await sessionOf(caller, chatId)
        const tools = session === null ? [] : ((await deps.lent?.list(session)) ?? [])
        const structured = { ok: true, count: tools.length, tools }
        return { text: JSON.stringify(structured), isError: false, structured }
      }),

    callServiceTool: (caller, { chatId, name, arguments: given = {} }) =>
      toolOutcome(async () => {
        const session = await sessionOf(caller, chatId)
        const result = session === null ? null : await deps.lent?.call(session, name, given)
        if (!result)
          throw new SwitchboardError(
            'not_found',
            `the service behind this conversation has no tool "${name.slice(0, 200)}" (see service_tools)`,
          )
        return answered(name, result)
      }),
  }
}

function answered(
  name: string,
  { content, structuredContent, isError = false }: ServiceToolResult,
): ToolOutcome {
  const texts = content.flatMap((block) => {
    const { type, text } = (block ?? {}) as { readonly type?: unknown; readonly text?: unknown }
    return type === 'text' && typeof text === 'string' ? [text] : []
  })
  const whole = { content, structured_content: structuredContent ?? null }
  const fits = JSON.stringify(whole).length <= MAX_CONTENT_CHARS
  return {
    text: texts.join('\n'),
    isError,
    structured: {
      ok: !isError,
      tool_name: name,
      is_error: isError,
      ...(fits ? whole : { content: [], structured_content: null, cut: true }),
    },
  }
}
