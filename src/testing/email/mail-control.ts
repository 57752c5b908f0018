// The doors beside the fake's IMAP and SMTP: a page, POST /_person to write as somebody, GET /_mailbox/ADDRESS to read, GET
// /_commands for what the bot said to the servers, POST /_faults.
import type { IncomingMessage, ServerResponse } from 'node:http'
import { defined, SwitchboardError } from '../../contract/index.ts'
import { openControlDoor, readJsonObject } from '../control-door.ts'
import { parseFaultRules } from '../faults/fault-plan.ts'
import type { FakeMailServers } from './fake-mail.ts'
import { MAIL_PAGE } from './mail-page.ts'

/** What somebody does, as the body of POST /_person: text, or tap (Allow, Deny). */
export interface MailPersonAction {
  /** Absent: Kate. */
  readonly from?: string
  readonly text?: string
  readonly subject?: string
  readonly fresh?: boolean
  readonly tag?: string
  readonly tap?: string
  readonly file?: { readonly name: string; readonly content: string; readonly mime?: string }
}

/** Answers a request to the page's port. False: it is not ours. */
export function mailControlDoor(
  request: IncomingMessage,
  response: ServerResponse,
  fake: FakeMailServers,
): boolean {
  return openControlDoor(request, response, (path) => answer(request, path, fake))
}

async function answer(request: IncomingMessage, path: string, fake: FakeMailServers): Promise<unknown> {
  if (path === '/') return MAIL_PAGE
  const asked = `${request.method} ${path}`
  const [, address] = /^GET \/_mailbox\/([^/]{3,200})$/.exec(asked) ?? []
  if (address !== undefined) return { mails: await fake.person(decodeURIComponent(address)).reads() }
  switch (asked) {
    case 'GET /_commands':
      return { commands: fake.commands, fired: fake.fired(), open: fake.open() }
    case 'POST /_person':
      return act(fake, (await readJsonObject(request)) as MailPersonAction)
    case 'POST /_faults':
      fake.plan(parseFaultRules(await readJsonObject(request)))
      return { ok: true }
    default:
      throw new SwitchboardError(
        'not_found',
        'there is POST /_person, GET /_mailbox/ADDRESS, GET /_commands and POST /_faults',
      )
  }
}

async function act(fake: FakeMailServers, action: MailPersonAction): Promise<object> {
  const { from, text, subject, fresh, tag, tap, file } = action
  const person = from === undefined ? fake.kate : fake.person(from)
  if (tap !== undefined) return { ok: true, id: await person.decides(tap) }
  if (typeof text !== 'string' || text === '')
    throw new SwitchboardError('input_invalid', 'give text, or tap with Allow or Deny')
  return { ok: true, id: await person.writes(text, defined({ subject, fresh, tag, file })) }
}
