// send_message: an agent writes to a place that it names. Checks run in one order: input valid, agent known, target
// allowed, integration exists, is enabled and granted. The rest (idempotency key, recent equal content, outbox) is one
// commit of the store.
import {
  type Address,
  address,
  defined,
  parseAddress,
  type SendResult,
  type Settings,
  type Store,
  SwitchboardError,
  type Template,
  type ToolCaller,
  withoutNulls,
} from '../../contract/index.ts'
import { checkPlace, type Link } from '../links.ts'
import { allowedTargets, chooseIntegration, denial, isAllowedTarget } from '../people/targets.ts'
import type { Outlet } from './outlet.ts'

export interface MessageOrder {
  readonly platform: string
  readonly target: string
  readonly body: string
  readonly thread?: string
  readonly integration?: string
  readonly template?: Template
}

export interface SendMessageDeps {
  readonly store: Pick<Store, 'turn' | 'session' | 'transcript'>
  readonly settings: () => Settings
  readonly outlet: Outlet
}

/** Sends a message. Throws on errors of the caller; errors of the platform are in the result. */
export async function sendMessage(
  deps: SendMessageDeps,
  caller: ToolCaller,
  { platform, target, body, thread, integration: named, template }: MessageOrder,
): Promise<SendResult> {
  const { settings, outlet } = deps
  if (!isText(platform) || !isText(target) || !isText(body)) {
    throw new SwitchboardError('input_invalid', 'platform, target, and body are required')
  }
  const { maxBodyBytes } = settings().tunables
  if (Buffer.byteLength(body) > maxBodyBytes) {
    throw new SwitchboardError('input_invalid', `body is larger than ${maxBodyBytes} bytes`)
  }
  const entries = allowedTargets(settings(), caller.agent)
  if (!isAllowedTarget(entries, platform, target)) throw denial(entries, platform, target)
  const { agent, session, turn, idempotencyKey } = caller
  const own = await ownIntegration(deps.store, caller)
  const { id } = chooseIntegration(settings(), { platform, agent, named, own })
  const link = outlet.running(id)
  const to = await placeOf(deps.store, link, { target, thread })
  await checkPlace(link, to, 'send_message')
  await outlet.demandSomebody(to)
  const rows = outlet.rows({
    to,
    text: body,
    agent,
    session,
    turn,
    cause: 'send_message',
    dedup: true,
    ...defined({ template }),
    ...withoutNulls({ idempotencyKey }),
  })
  return (await outlet.post(rows)).result
}

/** The integration of the caller's turn or session. */
async function ownIntegration(store: SendMessageDeps['store'], caller: ToolCaller): Promise<string | null> {
  const turn = caller.turn === null ? null : await store.turn(caller.turn)
  if (turn?.agent === caller.agent) return turn.integration
  const session = caller.session === null ? null : await store.session(caller.session)
  return session?.agent === caller.agent ? parseAddress(session.address).integration : null
}

/** At a hosted server, a target is the name under which it wrote before, if it ever did. */
async function placeOf(
  store: SendMessageDeps['store'],
  { integration, adapter: { channel: server } }: Link,
  { target, thread }: { readonly target: string; readonly thread: string | undefined },
): Promise<Address> {
  if (!server) return address(integration, target, thread)
  const places = server.placesOf(target)
  let place = places.at(-1) ?? target
  for (const conversation of places) {
    const messages = await store.transcript(integration, { conversation, direction: 'in', limit: 1 })
    if (messages.length === 0) continue
    place = conversation
    break
  }
  return address(integration, place, thread === undefined ? undefined : server.threadOf(thread))
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value.trim() !== ''
}
