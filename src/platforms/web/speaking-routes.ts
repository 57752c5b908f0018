// What a person sends on the page: text, files, taps, deletions.
import {
  asSwitchboardError,
  type HttpReply,
  type PlatformIntake,
  type RawRequest,
  type Received,
  SwitchboardError,
} from '../../contract/index.ts'
import type { WebConfig } from './config.ts'
import {
  parseDeletion,
  parseJson,
  parseMessage,
  parseTap,
  toInboundDeletion,
  toInboundMessage,
  toInboundTap,
  toUnparsable,
} from './parse.ts'
import { jsonReply, receivedReply, wireFile } from './render.ts'
import { type EndpointParts, invalid, maxUploadBytes, type Routes } from './routes.ts'
import { header, type Session } from './verify.ts'

/** How many of the person's latest messages are searched for the one whose files are removed. */
const LOOKED_BACK = 200

export function createSpeakingRoutes(config: WebConfig, parts: EndpointParts): Routes {
  const { deps, windows, files } = parts

  /** Reads a page's request. An unreadable one is recorded before it is refused. */
  async function read<Order>(
    request: RawRequest,
    session: Session,
    parse: (body: Readonly<Record<string, unknown>>) => Order,
  ): Promise<Order> {
    try {
      return parse(parseJson(request.body, header(request, 'content-type')))
    } catch (thrown) {
      const problem = asSwitchboardError(thrown)
      if (problem.code === 'input_invalid') {
        await parts.intake()?.receive([toUnparsable(problem.message, session, deps.clock.now())])
      }
      throw problem
    }
  }

  async function receive(
    event: Parameters<PlatformIntake['receive']>[0][number],
    session: Session,
    refused: () => Promise<void> = async () => undefined,
  ): Promise<{ readonly received: Received; readonly reply: HttpReply }> {
    const intake = parts.intake()
    if (intake === null) throw new SwitchboardError('draining', 'the chat is not open right now')
    const [received]: readonly (Received | undefined)[] = await intake.receive([event])
    if (received === undefined) throw new SwitchboardError('internal', 'the intake gave no answer')
    if (received.state === 'refused') await refused()
    windows.wake(session.sender)
    return { received, reply: receivedReply(received) }
  }

  /** Searches the latest messages only, because queued ones are not old. */
  async function attachmentsOf(sender: string, messageId: string): Promise<readonly string[]> {
    const said = await deps.transcript({ conversation: sender, direction: 'in', limit: LOOKED_BACK })
    const found = said.find((one) => one.platformMessageId === messageId)
    return (found?.attachments ?? []).map(({ ref }) => ref)
  }

  return {
    'POST /messages': async (request, session) => {
      const order = await read(request, session, (body) => parseMessage(body, config))
      const attachments = await Promise.all(
        order.attachments.map(async (id) => {
          const file = await files.own(session.sender, id)
          if (file === null)
            throw invalid(
              `attachments: there is no file ${id}`,
              'upload it again: it waited for its message too long, or others needed the room',
            )
          return file
        }),
      )
      const event = toInboundMessage(order, session, { at: deps.clock.now(), attachments })
      // Before it is received, so that a crash in between keeps a file too long rather than too short.
      const taken = await files.take(order.attachments)
      return (await receive(event, session, () => files.giveBack(taken))).reply
    },

    'POST /delete': async (request, session) => {
      const id = await read(request, session, parseDeletion)
      const attached = await attachmentsOf(session.sender, id)
      const { received, reply } = await receive(toInboundDeletion(id, session, deps.clock.now()), session)
      // No message names the files any more, so they are removed like unused uploads.
      if ((received.withdrawn ?? 0) > 0) await files.giveBack(attached)
      return reply
    },

    'POST /tap': async (request, session) => {
      const order = await read(request, session, parseTap)
      return (await receive(toInboundTap(order, session, deps.clock.now()), session)).reply
    },

    'POST /upload': async (request, session) => {
      const mostBytes = maxUploadBytes(deps)
      if (request.body.byteLength === 0) throw invalid('the file is empty')
      if (request.body.byteLength > mostBytes) {
        throw new SwitchboardError('too_large', `a file may have ${mostBytes} bytes`)
      }
      const saved = await files.save({
        sender: session.sender,
        name: request.query.get('name') ?? 'file',
        mime: header(request, 'content-type'),
        bytes: request.body,
        loose: true,
      })
      return jsonReply(200, { ...wireFile(saved), ref: saved.ref })
    },
  }
}
