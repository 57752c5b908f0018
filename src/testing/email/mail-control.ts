// The HTTP endpoints beside the fake's IMAP and SMTP. They are a page, POST /_person to write as a person,
// GET /_mailbox/ADDRESS to read a mailbox, GET /_commands for the commands of the bot, and POST /_faults.
import type { IncomingMessage, ServerResponse } from 'node:http'
import { defined, SwitchboardError } from '../../contract/index.ts'
import { openControlServer, readJsonObject } from '../control-server.ts'
import { parseFaultRules } from '../faults/fault-plan.ts'
import type { FakeMailServers } from './fake-mail.ts'

/** What a person does, as the body of POST /_person: text, or tap (Allow, Deny). */
export interface MailPersonAction {
  /** The default is Kate. */
  readonly from?: string
  readonly text?: string
  readonly subject?: string
  readonly fresh?: boolean
  readonly tag?: string
  readonly tap?: string
  readonly file?: { readonly name: string; readonly content: string; readonly mime?: string }
}

/** Answers a request to the emulator's own endpoints. Returns false for any other request. */
export function mailControlServer(
  request: IncomingMessage,
  response: ServerResponse,
  fake: FakeMailServers,
): boolean {
  return openControlServer(request, response, (path) => answer(request, path, fake))
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

// The page of the fake mail provider: Kate's mailbox and a form to write to the bot, in plain HTML.

const MAIL_PAGE = `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Mail emulator</title>
<style>
body{font:16px/1.4 system-ui,sans-serif;max-width:42rem;margin:1rem auto;padding:0 1rem;color-scheme:light dark}
.m{padding:.5rem .75rem;border-radius:.75rem;white-space:pre-wrap;border:1px solid #8886;overflow-wrap:anywhere;margin:.5rem 0}
.m b{display:block}form{display:grid;gap:.5rem;margin:1rem 0}input,textarea,button{font:inherit;padding:.4rem .6rem}
</style>
<h1>Mail emulator</h1>
<p>You are Kate (kate@home.test). What you write goes to the bot's mailbox; below is what came back.</p>
<form id="write"><input id="subject" aria-label="Subject" placeholder="Subject (empty: answer the newest mail)"><textarea id="text" aria-label="Text" rows="4" placeholder="Text"></textarea><button>Send</button></form>
<div id="mails" aria-live="polite"></div>
<script>
const subject = document.getElementById('subject'), text = document.getElementById('text'), mails = document.getElementById('mails')
document.getElementById('write').onsubmit = (event) => {
  event.preventDefault()
  if (!text.value) return
  const body = subject.value ? {text: text.value, subject: subject.value, fresh: true} : {text: text.value}
  fetch('/_person', {method: 'POST', headers: {'content-type': 'application/json'}, body: JSON.stringify(body)}).then(show)
  text.value = ''
}
let last = ''
async function show() {
  const now = await fetch('/_mailbox/kate@home.test').then((r) => r.text())
  if (now === last) return
  last = now
  mails.replaceChildren(...JSON.parse(now).mails.reverse().map((mail) => {
    const div = document.createElement('div'), head = document.createElement('b')
    div.className = 'm'
    head.textContent = mail.subject
    div.append(head, mail.text + (mail.files.length ? '\\n[' + mail.files.join(', ') + ']' : ''))
    return div
  }))
}
setInterval(show, 500); show()
</script>`
