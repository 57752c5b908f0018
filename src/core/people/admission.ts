// Checks access again: a waiting turn at its hand-over, and a message when it is sent. Mentions and limits are not
// checked again, and pairing codes are exempt. This node may not yet know a grant, an integration, or a configuration
// that is being rolled out. In that case it refuses nothing for good, and the turn or message waits.
import {
  type Clock,
  createBoundedMap,
  formatAddress,
  integrationById,
  RELAY_PLACE,
  type ReasonCode,
  SCHEDULE_PLACE,
  type SendRow,
  type Settings,
  type Store,
  SwitchboardError,
  type TurnRow,
} from '../../contract/index.ts'
import type { Cluster } from '../cluster/cluster.ts'
import { rowAddress } from '../signals.ts'
import { approverChats, isApprover } from './approvers.ts'
import { closedGate, groupAt } from './gate.ts'
import type { LiveGrantList } from './grant-list.ts'
import { boundAt } from './routing.ts'
import { spokenLately } from './spoken-lately.ts'
import { allowedTargets, isAllowedTarget, isGranted, refusedNow } from './targets.ts'

export type Judgement = 'admitted' | 'revoked' | 'unsure'

export interface Admission {
  /** Whether a turn may be handed over, from local knowledge only. False: call `ofTurn`. */
  atOnce(row: TurnRow): boolean
  /** Whether a turn may be handed to its agent now. */
  ofTurn(row: TurnRow): Promise<Judgement>
  /** Whether a message beside a turn may be shown with it now. Uncertain cases are refused. */
  mayBeHeard(row: TurnRow): Promise<boolean>
  /** Why a message may not be sent any more; `later`: unknown so far; null: it may be sent. */
  ofSend(row: SendRow): Promise<ReasonCode | 'later' | null>
}

export interface AdmissionDeps {
  readonly store: Pick<Store, 'turn' | 'turns' | 'session' | 'shared' | 'owner'>
  readonly clock: Clock
  readonly settings: () => Settings
  readonly grants: LiveGrantList
  readonly cluster: Pick<Cluster, 'nodes' | 'isAlive'>
  /** The present result of the platform's own gates. */
  readonly admitsNow: (integration: string) => boolean
  /** Whether a message to a user still goes to a user's place. */
  readonly isRecipient: (row: SendRow) => boolean
  /** True where people are reached in the conversations in which they wrote lately. */
  readonly senderIdIsNotAChat: (integration: string) => boolean
}

/** The facts that are judged about a turn. They are remembered, because its answer follows soon. */
type Facts = Pick<TurnRow, 'integration' | 'conversation' | 'thread' | 'sender' | 'agent' | 'session'> & {
  readonly address: string
  readonly chat: 'direct' | 'group'
  readonly receivedAt: number
}

type Heard = Pick<Facts, 'integration' | 'receivedAt'>

/** For uncertain cases: a configuration is being rolled out, or the store was unavailable. */
export const NOT_KNOWN_YET = new SwitchboardError(
  'agent_absent',
  'whether it may be handed over is not known here yet',
)

const REMEMBERED = 5_000
/** By then this node has heard of changes made by command at another node. */
const HEARD_OF_MS = 15_000

export function createAdmission(deps: AdmissionDeps): Admission {
  const { store, settings, grants } = deps
  const remembered = createBoundedMap<string, Facts>(REMEMBERED)

  const remember = (id: string, facts: Facts): Facts => {
    remembered.set(id, facts)
    return facts
  }

  const mayTalk = (facts: Facts): boolean => {
    const integration = integrationById(settings(), facts.integration)
    if (!integration || closedGate(integration, grants, facts) !== null) return false
    return deps.admitsNow(facts.integration)
  }

  /** The binding still leads to this agent, or a claim led the message to another one. */
  const isBoundStill = async (facts: Facts): Promise<boolean> => {
    const bound = boundAt(settings(), rowAddress(facts))
    if (bound === null || bound.agent === facts.agent) return bound !== null
    const session = facts.session === null ? null : await store.session(facts.session)
    return session !== null && session.address !== facts.address
  }

  const admits = async (facts: Facts): Promise<boolean> => mayTalk(facts) && (await isBoundStill(facts))

  /** All living nodes run one configuration. Until then, one node may know what another does not. */
  const agreed = (facts: Heard): boolean => {
    if (!store.shared) return true
    const { digest } = settings()
    const { nodes, isAlive } = deps.cluster
    const alike = nodes().every(
      (one) => one.owner === store.owner || !isAlive(one.owner) || one.digest === digest,
    )
    const known = integrationById(settings(), facts.integration) !== undefined
    return alike && (known || deps.clock.now() - facts.receivedAt >= HEARD_OF_MS)
  }

  const judge = async <Known extends Heard>(
    facts: Known,
    may: (facts: Known) => Promise<boolean>,
  ): Promise<Judgement> => {
    // A schedule comes from the configuration, not from a person.
    if (facts.integration === SCHEDULE_PLACE || (await may(facts))) return 'admitted'
    // A sender may have been admitted a moment ago at another node.
    const fresh = await grants.load().then(
      () => true,
      () => false,
    )
    if (fresh && (await may(facts))) return 'admitted'
    return fresh && agreed(facts) ? 'revoked' : 'unsure'
  }

  /** The turn that a message answers, else the last turn of its session. */
  const answeredBy = async (row: SendRow): Promise<Facts | null> => {
    const known = row.turn === null ? undefined : remembered.get(row.turn)
    if (known) return known
    const turn =
      row.turn !== null
        ? await store.turn(row.turn)
        : row.session === null
          ? null
          : ((await store.turns({ session: row.session, limit: 1 }))[0] ?? null)
    return turn === null ? null : remember(turn.id, factsOf(turn, settings()))
  }

  /** A host may answer in another chat of its agent, as long as that chat is the agent's own or allowed. */
  const isOwnChat = ({ agent, integration, platform, conversation, ...row }: SendRow): boolean => {
    const found = integrationById(settings(), integration)
    if (!found || agent === null) return false
    const at = rowAddress({ integration, conversation, thread: row.thread })
    if (boundAt(settings(), at)?.agent === agent) return true
    const listed = isAllowedTarget(allowedTargets(settings(), agent), platform, conversation)
    return listed && isGranted(settings(), found, agent)
  }

  /** Prompts show what an agent is about to do. Only people who may still decide see them. */
  const mayBeAsked = async (row: SendRow): Promise<boolean> => {
    const { agent, integration, conversation } = row
    if (agent === null || conversation === RELAY_PLACE) return true
    const chats = approverChats(settings(), grants, agent).filter((one) => one.integration === integration)
    if (chats.some((one) => one.conversation === conversation)) return true
    if (deps.senderIdIsNotAChat(integration)) {
      const places = await Promise.all(chats.map((chat) => spokenLately(deps, chat)))
      if (places.flat().some((one) => formatAddress(one) === row.to)) return true
    }
    const access = integrationById(settings(), integration)?.access
    if (access?.readable && groupAt(access, conversation)?.approvals) return true
    const facts = await answeredBy(row)
    if (facts?.address !== row.to) return false
    return (
      isApprover(settings(), grants, { integration, sender: facts.sender, agent }) && (await admits(facts))
    )
  }

  return {
    atOnce(row) {
      const facts = remember(row.id, factsOf(row, settings()))
      if (facts.integration === SCHEDULE_PLACE) return true
      return mayTalk(facts) && boundAt(settings(), rowAddress(facts))?.agent === facts.agent
    },
    ofTurn: (row) => judge(remember(row.id, factsOf(row, settings())), admits),
    mayBeHeard: (row) => admits(factsOf(row, settings())),
    async ofSend(row) {
      const refused = refusedNow(settings(), row)
      if (refused !== null) return refused
      if (row.cause === 'prompt') return (await mayBeAsked(row)) ? null : 'not_allowed'
      if (row.cause === 'notify_user') {
        const asked = { integration: row.integration, receivedAt: row.createdAt }
        return reasonOf(await judge(asked, async () => deps.isRecipient(row)))
      }
      if (row.cause !== 'reply' && row.cause !== 'notice') return null
      const facts = await answeredBy(row)
      // A notice about a turn may go to people other than its sender, and outlives the binding.
      if (facts === null || (row.cause === 'notice' && facts.address !== row.to)) return null
      if (row.cause === 'reply' && facts.address !== row.to) return isOwnChat(row) ? null : 'not_allowed'
      return reasonOf(await judge(facts, row.cause === 'notice' ? async (one) => mayTalk(one) : admits))
    },
  }
}

function reasonOf(judgement: Judgement): ReasonCode | 'later' | null {
  if (judgement === 'admitted') return null
  return judgement === 'unsure' ? 'later' : 'not_allowed'
}

/** Old rows do not record groups. They count as group messages if the configuration lists their chat as a group. */
function factsOf(row: TurnRow, settings: Settings): Facts {
  const { integration, conversation, thread, sender, agent, session, receivedAt, body } = row
  const access = integrationById(settings, integration)?.access
  const listed = access?.readable === true && groupAt(access, conversation) !== undefined
  const chat = body?.chat === 'group' || listed ? 'group' : 'direct'
  const address = formatAddress(rowAddress(row))
  return { integration, conversation, thread, sender, agent, session, address, chat, receivedAt }
}
