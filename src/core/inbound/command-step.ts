// /new, /status, /stop, /back, /human and /help go to Switchboard, not to the model. Where a platform reserves the
// slash, they start with an exclamation mark (!new …).
import type {
  BackTexts,
  Effect,
  HumanTexts,
  StatusTexts,
  StepResult,
  StopTexts,
} from '../../contract/index.ts'
import { CONTINUE, DEFAULT_TAKEOVER } from '../../contract/index.ts'
import { heldText } from '../notices.ts'
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

const STOP_TEXTS: StopTexts = {
  none: 'Nothing is running.',
  one: 'Stopped: 1 message cancelled.',
  many: 'Stopped: {count} messages cancelled.',
  runsOn: ' {agent} cannot be interrupted: what it began may still be answered.',
  noneOfYours: 'Nothing of yours is running. What others began only an approver can stop.',
}

const HELP = [
  'Whatever you write goes to the agent, except for:',
  '/status: who answers, and what waits',
  '/new: start afresh; the next message opens a new conversation',
  '/stop: cancel what is running',
  '/back: leave a thread that this chat was switched to',
  '/help: this list',
  'Where / is taken write ! instead: !status. A question that waits for you is answered by its buttons, or with yes ID or no ID.',
]

const HUMAN_HELP = '/human: ask for a person'

const HUMAN_TEXTS: HumanTexts = {
  asked: 'A person was asked to join you here. Until somebody does, {agent} goes on.',
  before: 'A person was asked for already. Until somebody joins you here, {agent} goes on.',
  held: 'You are talking to a person: this conversation is held by {name}.',
}

/** Where it is not allowed, /human is ordinary text. */
function mayAskForPerson({ settings, integration }: StepInput): boolean {
  const { human } = settings.takeover ?? DEFAULT_TAKEOVER
  return human === 'all' || human.includes(integration.id)
}

function helpText(input: StepInput): string {
  if (!mayAskForPerson(input)) return HELP.join('\n')
  return [...HELP.slice(0, -2), HUMAN_HELP, ...HELP.slice(-2)].join('\n')
}

const NEW_REFUSED = 'In a group only an approver can start a new conversation.'

const COUNTS = 'Waiting: {queued}. In work: {running}.'

const STATUS_TEXTS: StatusTexts = {
  attached: `{agent} is attached. ${COUNTS}`,
  offline: `{agent} is offline; messages wait in order. ${COUNTS}`,
  thread: ' This chat is in the {label} thread; /back leaves it.',
}

const BACK_TEXTS: BackTexts = {
  left: 'Back in your own chat; the {label} thread is closed.',
  home: 'You are in your own chat.',
}

/** In a group, one member's command must not end the work of others. Only approvers may do that. */
function commandsAll({ event, settings, grants, integration }: StepInput): boolean {
  return event.chat === 'direct' || isOwnerOf(settings, grants, integration, event.sender.id)
}

export function commandStep(input: StepInput): StepResult {
  const { form, agent, at, reach, event } = input
  if (form?.kind !== 'command' || !agent) return CONTINUE
  if (form.command === 'human' && !mayAskForPerson(input)) return CONTINUE
  // The situation it referred to has passed.
  if (input.late) return { decision: { go: 'consume', reason: 'late' } }
  const { attached, stoppable } = reach
  switch (form.command) {
    case 'new':
      if (!commandsAll(input)) return { decision: { go: 'answer', text: NEW_REFUSED, reason: 'command' } }
      if (input.heldBy !== null)
        return { decision: { go: 'answer', text: heldText(input.heldBy), reason: 'command' } }
      return {
        decision: {
          go: 'answer',
          text: 'Started afresh: the next message opens a new conversation.',
          reason: 'command',
        },
        effects: [{ kind: 'new_session', agent, at }],
      }
    case 'stop':
      return done({
        ...{ kind: 'cancel_session', agent, at, stoppable, texts: STOP_TEXTS },
        sender: commandsAll(input) ? null : event.sender.id,
      })
    case 'help':
      return { decision: { go: 'answer', text: helpText(input), reason: 'command' } }
    case 'human':
      return done({
        ...{ kind: 'ask_person', agent, at, texts: HUMAN_TEXTS },
        by: `${input.integration.id}:${event.sender.id}`,
      })
    case 'back':
      return done({ kind: 'route_back', at, texts: BACK_TEXTS })
    case 'status':
      return done({ kind: 'tell_session', agent, at, attached, texts: STATUS_TEXTS })
  }
}

/** The effect reports the result. */
function done(effect: Effect): StepResult {
  return { decision: { go: 'consume', reason: 'command' }, effects: [effect] }
}
