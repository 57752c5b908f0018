// /new, /status, /stop, /back, /human and /help go to Switchboard, not to the model. Where a platform reserves the
// slash, they start with an exclamation mark (!new …).
import type { Effect, StepResult, Wording } from '../../contract/index.ts'
import { CONTINUE, DEFAULT_TAKEOVER } from '../../contract/index.ts'
import { isOwnerOf } from '../people/approvers.ts'
import type { StepInput } from './step-input.ts'

export type ChatCommand = 'new' | 'status' | 'stop' | 'back' | 'human' | 'help'

// `/new@some_bot` is for that bot. An adapter removes its own name, so a remaining name means another bot.
const COMMAND = /^\s*[/!](new|status|stop|back|human|help)\s*$/i

/** Returns the command in an event, or null. Edits are never commands. */
export function chatCommand(event: StepInput['event']): ChatCommand | null {
  if (event.kind !== 'message') return null
  const { text } = event
  if (text.length < 4 || text.length > 80) return null
  return (COMMAND.exec(text)?.[1]?.toLowerCase() as ChatCommand | undefined) ?? null
}

/** Where it is not allowed, /human is ordinary text. */
function mayAskForPerson({ settings, integration }: StepInput): boolean {
  const { human } = settings.takeover ?? DEFAULT_TAKEOVER
  return human === 'all' || human.includes(integration.id)
}

/** In a group, one member's command must not end the work of others. Only approvers may do that. */
function commandsAll({ event, settings, grants, integration }: StepInput): boolean {
  return event.chat === 'direct' || isOwnerOf(settings, grants, integration, event.sender.id)
}

export function commandStep(input: StepInput): StepResult {
  const { form, agent, at, reach, event, words } = input
  if (form?.kind !== 'command' || !agent) return CONTINUE
  if (form.command === 'human' && !mayAskForPerson(input)) return CONTINUE
  // The situation it referred to has passed.
  if (input.late) return { decision: { go: 'consume', reason: 'late' } }
  const { attached, stoppable } = reach
  switch (form.command) {
    case 'new':
      if (!commandsAll(input)) return answer(words.commands.newRefused)
      if (input.heldBy !== null) return answer(words.notices.held({ name: input.heldBy }))
      return { ...answer(words.commands.newStarted), effects: [{ kind: 'new_session', agent, at }] }
    case 'stop':
      return done({
        ...{ kind: 'cancel_session', agent, at, stoppable, texts: words.commands.stop },
        sender: commandsAll(input) ? null : event.sender.id,
      })
    case 'help':
      return answer(words.commands.help({ human: mayAskForPerson(input) }))
    case 'human':
      return done({
        ...{ kind: 'ask_person', agent, at, texts: words.commands.human },
        by: `${input.integration.id}:${event.sender.id}`,
      })
    case 'back':
      return done({ kind: 'route_back', at, texts: words.commands.back })
    case 'status':
      return done({ kind: 'tell_session', agent, at, attached, texts: words.commands.status })
  }
}

function answer(text: Wording): StepResult {
  return { decision: { go: 'answer', text, reason: 'command' } }
}

/** The effect reports the result. */
function done(effect: Effect): StepResult {
  return { decision: { go: 'consume', reason: 'command' }, effects: [effect] }
}
