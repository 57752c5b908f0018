// /new, /status, /stop and /back (or !new …, where a platform keeps the slash for itself) go to Switchboard, not to the model.
import type { Effect, StepResult } from '../../contract/index.ts'
import { CONTINUE } from '../../contract/index.ts'
import { type StepInput, textOf } from './step-input.ts'

export type ChatCommand = 'new' | 'status' | 'stop' | 'back'

// `/new@some_bot` is how Telegram addresses one bot among several.
const COMMAND = /^\s*[/!](new|status|stop|back)(?:@[\w.-]+)?\s*$/i

/** The command that an event is, or null. Edits never command. */
export function chatCommand(event: StepInput['event']): ChatCommand | null {
  if (event.kind !== 'message') return null
  const text = textOf(event)
  if (text.length < 4 || text.length > 80) return null
  return (COMMAND.exec(text)?.[1]?.toLowerCase() as ChatCommand | undefined) ?? null
}

export function commandStep(input: StepInput): StepResult {
  const command = chatCommand(input.event)
  if (!command || !input.agent) return CONTINUE
  switch (command) {
    case 'new':
      return answer('Started afresh: the next message opens a new conversation.', {
        kind: 'new_session',
        agent: input.agent,
        at: input.at,
      })
    case 'stop':
      return answer(stopText(input), {
        kind: 'cancel_session',
        agent: input.route?.agent ?? input.agent,
        at: input.at,
        ...(input.route ? { session: input.route.session } : {}),
      })
    case 'back':
      return input.route
        ? answer(`Back in your own chat; the ${input.route.label} thread is closed.`, {
            kind: 'route_back',
            at: input.at,
          })
        : answer('You are in your own chat.', null)
    case 'status':
      return answer(statusText(input), null)
  }
}

function stopText(input: StepInput): string {
  const { queued = 0, running = 0, canStop = false } = input.session ?? {}
  const open = queued + running
  if (open === 0) return 'Nothing is running.'
  const stopped = `Stopped: ${open} message${open === 1 ? '' : 's'} cancelled.`
  if (running === 0 || canStop) return stopped
  return `${stopped} ${input.agent} cannot be interrupted: what it began may still be answered.`
}

function statusText(input: StepInput): string {
  const { queued = 0, running = 0, attached = false } = input.session ?? {}
  const name = input.route?.agent ?? input.agent
  const agent = attached ? `${name} is attached` : `${name} is offline; messages wait in order`
  const thread = input.route ? ` This chat is in the ${input.route.label} thread; /back leaves it.` : ''
  return `${agent}. Waiting: ${queued}. In work: ${running}.${thread}`
}

function answer(
  text: string,
  effect: Extract<Effect, { kind: 'new_session' | 'cancel_session' | 'route_back' }> | null,
): StepResult {
  return { decision: { go: 'answer', text, reason: 'command' }, effects: effect ? [effect] : [] }
}
