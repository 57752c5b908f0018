// Turns an agent's words into rows of the outbox, in the commit that settles the turn. A reply goes to the conversation
// of the turn it answers. No argument of the agent can redirect it.
import {
  type Accepted,
  type Address,
  type Clock,
  defined,
  type NewFile,
  type NewSend,
  SCHEDULE_PLACE,
  type Settings,
  type Store,
  SwitchboardError,
  type TurnRow,
} from '../../../contract/index.ts'
import { isOneWay, type Links } from '../../links.ts'
import type { FileOp } from '../../outbound/compose.ts'
import type { Outlet } from '../../outbound/outlet.ts'
import { quoteOf } from '../../outbound/quoting.ts'
import { heldRefusal, noFilesRefusal, oneWayRefusal } from '../../outbound/send-result.ts'
import type { Streams } from '../../outbound/streams.ts'
import { pickButtons } from '../../picks.ts'
import type { Dispatcher } from '../dispatcher.ts'
import type { AgentTurns, Output } from './agent-turns.ts'

export interface AgentRepliesDeps {
  readonly store: Pick<Store, 'heldAgainst'>
  readonly clock: Clock
  readonly settings: () => Settings
  readonly links: Links
  readonly outlet: Pick<Outlet, 'rows' | 'put'>
  readonly dispatcher: Pick<Dispatcher, 'settle' | 'wasLost'>
  readonly streams: Pick<Streams, 'ended'>
  readonly turns: AgentTurns
}

/** The target, and the turn that is answered. */
interface Place {
  readonly to: Address
  readonly row: TurnRow | null
}

export interface AgentReplies {
  say(output: Output<'say'>): Promise<Accepted>
  /** Returns the rows of one answer. If its beginning is already shown, the final text replaces it. */
  replyRows(output: Output<'say'>, place: Place, files: readonly FileOp[]): readonly NewSend[]
}

export function createAgentReplies(agent: string, deps: AgentRepliesDeps): AgentReplies {
  const { store, dispatcher, turns } = deps

  const say: AgentReplies['say'] = async (output) => {
    if (output.turn && output.unlessReplied && (await turns.hasAnsweredByTool(output.turn)))
      return endQuietly(output.turn, output.text)
    const place = await turns.placeOf(output)
    // No person reads here. `notify_on` reports the end of such a turn; any other message needs a tool.
    const oneWay = isOneWay(deps.links, place.to.integration)
    const unheard = place.to.integration === SCHEDULE_PLACE || oneWay
    if (oneWay && output.turn === undefined) throw oneWayRefusal(place.to.integration)
    const files = unheard ? [] : await keptFiles(place.to.integration, output.files ?? [])
    const sends = unheard ? [] : replyRows(output, place, files)
    const ends = output.final === true
    const flying = output.turn ? await turns.flightOf(output.turn, { ends }) : null
    if (output.turn && dispatcher.wasLost(output.turn))
      throw new SwitchboardError('conflict', `turn ${output.turn} is another node's now`)
    const isOfTurn = output.turn !== undefined && (flying !== null || output.sole === true)
    const ids = isOfTurn ? await settle(output.turn, output, sends) : await deps.outlet.put(sends)
    const held = ids ? null : await store.heldAgainst(place.to, output.turn ?? null)
    if (held) throw heldRefusal(held)
    if (!ids && output.sole)
      throw new SwitchboardError('conflict', 'this message was answered, or given up, before')
    if (!ids) throw new SwitchboardError('conflict', `turn ${output.turn} is no longer this node's`)
    if (output.turn && output.final) void deps.streams.ended(output.turn)
    return { id: ids[0] ?? null }
  }

  /** Commits the words and the turn's move together. Null: the turn is no longer this node's, nothing was written. */
  const settle = async (turn: string, output: Output<'say'>, sends: readonly NewSend[]) => {
    const end = output.final ? { text: output.text } : {}
    const sole = output.sole ? { sole: true as const } : {}
    const to = output.final ? 'answered' : 'seen'
    const settled = await dispatcher.settle(turn, to, { sends, said: true, ...end, ...sole })
    return settled.ok ? settled.ids : null
  }

  /** The reply tool already sent the answer. This text serves `notify_on` only. */
  const endQuietly = async (turn: string, text: string): Promise<Accepted> => {
    await dispatcher.settle(turn, 'answered', { text })
    void deps.streams.ended(turn)
    return { id: null }
  }

  /** If the beginning of the answer is already shown, the final text replaces it. */
  const finishing = (rows: readonly NewSend[], { turn, final }: Output<'say'>): readonly NewSend[] => {
    const [first, ...others] = rows
    const isText =
      first?.op.kind === 'text' && deps.links.get(first.to.integration)?.adapter.streaming?.by === 'edits'
    return first && isText && turn && final ? [{ ...first, finishes: true }, ...others] : rows
  }

  const rowsOf = (
    output: Output<'say'>,
    { to, row }: Place,
    files: readonly FileOp[],
  ): readonly NewSend[] => {
    const key = output.idempotencyKey
    const saying = {
      ...({ to, cause: 'reply', agent, session: output.session, turn: output.turn ?? null } as const),
      ...defined({ urgency: output.urgency }),
      ...(output.afterMs === undefined ? {} : { dueAt: deps.clock.now() + output.afterMs }),
    }
    const keyed = (end: string) => (key === undefined ? {} : { idempotencyKey: key + end })
    const before = (output.before ?? []).flatMap((text, index) =>
      deps.outlet.rows({ ...saying, text, ...keyed(`#before${index}`) }),
    )
    const { pick, text } = output
    const hasButtons = deps.links.get(to.integration)?.adapter.abilities.buttons === true
    const choices = pick && hasButtons ? pickButtons(pick) : []
    const picks = choices.length === 0 ? {} : { choices }
    const quote = row === null ? {} : quoteOf(deps.settings(), row)
    return [...before, ...deps.outlet.rows({ ...saying, text, files, ...picks, ...quote, ...keyed('') })]
  }

  /** All files are stored before any row is written. */
  const keptFiles = async (integration: string, files: readonly NewFile[]): Promise<readonly FileOp[]> => {
    if (files.length === 0) return []
    const adapter = deps.links.get(integration)?.adapter
    if (!adapter?.abilities.files || !adapter.files?.keep) throw noFilesRefusal(integration)
    const ops: FileOp[] = []
    for (const file of files)
      ops.push({ kind: 'file', name: file.name, mime: file.mime, ref: await adapter.files.keep(file) })
    return ops
  }

  const replyRows: AgentReplies['replyRows'] = (output, place, files) =>
    finishing(rowsOf(output, place, files), output)

  return { say, replyRows }
}
