// The SMTP side of the fake: a submission server with a login. It delivers at once to the mailboxes of the same fake.
import { createServer, type Server, type Socket } from 'node:net'
import type { FaultRule } from '../faults/fault-plan.ts'
import type { LineServerDeps } from './imap-server.ts'
import { bearerIn } from './imap-session.ts'
import { underPlan } from './trouble.ts'

const MOST_MAIL_BYTES = 36_700_160
const MOST_LINE = 65_536
const MOST_RECIPIENTS = 100

export interface SmtpServerDeps extends LineServerDeps {
  /** Called with each accepted mail. */
  readonly onMail: (mail: { readonly from: string; readonly to: string; readonly raw: Buffer }) => void
}

export function createSmtpServer(deps: SmtpServerDeps): Server {
  return createServer((socket) => serve(socket, deps))
}

function serve(socket: Socket, deps: SmtpServerDeps): void {
  let user: string | null = null
  let from: string | null = null
  let recipients: readonly string[] = []
  /** What the server reads next: a command, an answer to AUTH, or a mail. */
  let expects: 'command' | 'mail' | ((line: string) => string) = 'command'
  let rest: Buffer = Buffer.alloc(0)
  let busy = false

  const say = (line: string) => {
    if (socket.writable) socket.write(`${line}\r\n`)
  }
  const forget = () => {
    from = null
    recipients = []
  }
  const trouble = {
    plan: deps.plan,
    socket,
    // Faults are temporary refusals. Mail to `nobody@…` is refused for good.
    refuse: (rule: FaultRule) =>
      say(rule.do === 'rate-limit' ? '450 4.7.1 too many, come back later' : '451 4.3.0 not today'),
    deafen() {
      deps.deaf.is = true
    },
  }

  const signIn = (name: string, password: string): string => signedIn(name, password === deps.password)
  const signedIn = (name: string, isRight: boolean): string => {
    if (!isRight) return '535 5.7.8 user or password is wrong'
    user = name
    return '235 2.7.0 welcome'
  }
  const decoded = (text: string) => Buffer.from(text, 'base64').toString()
  const encoded = (text: string) => Buffer.from(text).toString('base64')
  const plain = (line: string): string => {
    const [, name = '', password = ''] = decoded(line).split('\u0000')
    return signIn(name, password)
  }
  const authenticate = (words: string): string => {
    const [way = '', given] = words.split(' ')
    if (way.toUpperCase() === 'PLAIN') {
      if (given !== undefined) return plain(given)
      expects = plain
      return '334 '
    }
    if (way.toUpperCase() === 'XOAUTH2') {
      const { user: name, token } = bearerIn(given ?? '')
      return signedIn(name, deps.isToken(token))
    }
    if (way.toUpperCase() !== 'LOGIN') return '504 5.5.4 PLAIN, LOGIN or XOAUTH2'
    expects = (name) => {
      expects = (password) => signIn(decoded(name), decoded(password))
      return `334 ${encoded('Password:')}`
    }
    return `334 ${encoded('Username:')}`
  }

  const recipient = (words: string): string => {
    const [, address] = /^TO:<([^<>\s]+@[^<>\s]+)>/i.exec(words) ?? []
    if (address === undefined) return '501 5.1.3 that is no address'
    if (/^nobody@/i.test(address)) return `550 5.1.1 ${address}: nobody of that name lives here`
    if (recipients.length >= MOST_RECIPIENTS) return '452 4.5.3 too many recipients'
    recipients = [...recipients, address]
    return '250 2.1.5 fine'
  }

  const sender = (words: string): string => {
    if (user === null) return '530 5.7.0 sign in first'
    from = /^FROM:<([^<>\s]*)>/i.exec(words)?.[1] ?? ''
    return '250 2.1.0 fine'
  }

  const command = (name: string, words: string): string => {
    switch (name) {
      case 'EHLO':
        return `250-emulated\r\n250-SIZE ${MOST_MAIL_BYTES}\r\n250-8BITMIME\r\n250-AUTH PLAIN LOGIN XOAUTH2\r\n250 PIPELINING`
      case 'HELO':
        return '250 emulated'
      case 'AUTH':
        return authenticate(words)
      case 'MAIL':
        return sender(words)
      case 'RCPT':
        return from === null ? '503 5.5.1 MAIL first' : recipient(words)
      case 'DATA':
        if (recipients.length === 0) return '503 5.5.1 RCPT first'
        expects = 'mail'
        return '354 go on, end with a dot'
      case 'RSET':
        forget()
        return '250 2.0.0 fine'
      case 'NOOP':
        return '250 2.0.0 still here'
      case 'QUIT':
        return '221 2.0.0 so long'
      default:
        return '502 5.5.1 not emulated'
    }
  }

  const deliver = (raw: Buffer) => {
    for (const to of recipients) {
      deps.onMail({ from: from ?? '', to, raw })
      deps.world.deliver({ from: from ?? '', to, raw })
    }
    forget()
  }

  /** Takes one line or one mail from the received bytes. Returns false when they are incomplete. */
  const step = async (): Promise<boolean> => {
    if (expects === 'mail') {
      const end = rest.subarray(0, 3).toString() === '.\r\n' ? 0 : rest.indexOf('\r\n.\r\n')
      if (end < 0) {
        if (rest.length > MOST_MAIL_BYTES + 1_024) socket.destroy()
        return false
      }
      const mail = rest.subarray(0, end === 0 ? 0 : end + 2)
      rest = rest.subarray(end === 0 ? 3 : end + 5)
      expects = 'command'
      const raw = Buffer.from(mail.toString('latin1').replace(/^\.\./gm, '.'), 'latin1')
      await underPlan('END OF DATA', trouble, async () => {
        deliver(raw)
        return () => say('250 2.0.0 taken')
      })
      return true
    }
    const end = rest.indexOf('\r\n')
    if (end < 0) {
      if (rest.length > MOST_LINE) socket.destroy()
      return false
    }
    const line = rest.subarray(0, end).toString('latin1')
    rest = rest.subarray(end + 2)
    if (typeof expects === 'function') {
      const answer = expects
      expects = 'command'
      say(answer(line))
      return true
    }
    const [, word = '', words = ''] = /^(\S+)\s*(.*)$/.exec(line) ?? []
    const name = word.toUpperCase()
    deps.onCommand(name)
    await underPlan(name, trouble, async () => () => {
      say(command(name, words))
      if (name === 'QUIT') socket.end()
    })
    return true
  }

  const work = async () => {
    if (busy) return
    busy = true
    while (!socket.destroyed && (await step()));
    busy = false
  }
  socket.on('data', (chunk: Buffer) => {
    rest = Buffer.concat([rest, chunk])
    void work()
  })
  socket.on('error', () => undefined)
  say('220 emulated mail')
}
