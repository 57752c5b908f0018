// A fake mail provider for tests and `switchboard emulate email`. It serves IMAP and SMTP over the real wire, in one
// process and in memory, on loopback only, with fault plans. Tests in src/platforms/email/ cover real servers.
import { createServer as createHttpServer } from 'node:http'
import type { AddressInfo, Server, Socket } from 'node:net'
import { createFaultPlan, type FaultPlan, type FaultRule } from '../faults/fault-plan.ts'
import { createImapServer } from './imap-server.ts'
import { mailControlServer } from './mail-control.ts'
import { createMailPerson, type MailPerson } from './mail-person.ts'
import { createMailWorld, FAKE_AUTHSERV_ID, type MailWorld } from './mail-world.ts'
import { createSmtpServer } from './smtp-server.ts'
import { refuseForeignKinds } from './trouble.ts'

export const FAKE_MAIL_PASSWORD = 'emulated-mail-password'
export const FAKE_BOT_ADDRESS = 'bot@emulated.test'
export const FAKE_KATE_ADDRESS = 'kate@home.test'

export interface FakeMailOptions {
  /** The port of the page. IMAP and SMTP use the next two ports. With 0 or absent, all three are free ports. */
  readonly port?: number
  readonly faults?: readonly FaultRule[]
  readonly now?: () => number
  /** Whether an OAuth2 access token is valid. If absent, none is. */
  readonly isToken?: (token: string) => boolean
  /** Called with each mail that arrives by SMTP. */
  readonly onMail?: (mail: { readonly from: string; readonly to: string; readonly raw: Buffer }) => void
}

export interface FakeMailServers {
  readonly url: string
  readonly imapPort: number
  readonly smtpPort: number
  readonly password: string
  readonly authservId: string
  readonly bot: string
  readonly world: MailWorld
  readonly kate: MailPerson
  person(address: string, name?: string): MailPerson
  /** Replaces the fault plan. Throws `input_invalid` for a fault kind that mail servers cannot have. */
  plan(rules: readonly FaultRule[]): void
  fired(): FaultPlan['fired']
  /** The names of all commands, in order. */
  readonly commands: readonly string[]
  /** The numbers of open connections. */
  open(): { readonly imap: number; readonly smtp: number }
  /** Ends every connection, as a restarting server does. */
  cut(): void
  stop(): Promise<void>
}

const MOST_COMMANDS = 10_000

export async function createFakeMail(options: FakeMailOptions = {}): Promise<FakeMailServers> {
  const { port = 0, now = Date.now, onMail = () => undefined } = options
  const world = createMailWorld({ now })
  let plan = createFaultPlan(refuseForeignKinds(options.faults ?? []))
  const commands: string[] = []
  const deaf = { is: false }
  const deps = {
    world,
    password: FAKE_MAIL_PASSWORD,
    isToken: options.isToken ?? (() => false),
    plan: () => plan,
    deaf,
    onCommand(name: string) {
      if (commands.length < MOST_COMMANDS) commands.push(name)
    },
  }
  const imap = listening(createImapServer(deps), port === 0 ? 0 : port + 1)
  const smtp = listening(createSmtpServer({ ...deps, onMail }), port === 0 ? 0 : port + 2)
  const page = listening(
    createHttpServer((request, response) => {
      if (mailControlServer(request, response, fake)) return
      response.writeHead(404).end()
    }),
    port,
  )
  const servers = await Promise.allSettled([imap, smtp, page])
  const failed = servers.find((one) => one.status === 'rejected')
  if (failed !== undefined) {
    for (const one of servers) if (one.status === 'fulfilled') await one.value.stop()
    throw failed.reason
  }
  const [imapUp, smtpUp, pageUp] = [await imap, await smtp, await page]
  const person = (address: string, name = address.split('@')[0] ?? 'someone') =>
    createMailPerson(world, { address, name, bot: () => FAKE_BOT_ADDRESS, now })
  const fake: FakeMailServers = {
    url: `http://127.0.0.1:${pageUp.port}`,
    imapPort: imapUp.port,
    smtpPort: smtpUp.port,
    password: FAKE_MAIL_PASSWORD,
    authservId: FAKE_AUTHSERV_ID,
    bot: FAKE_BOT_ADDRESS,
    world,
    kate: person(FAKE_KATE_ADDRESS, 'Kate'),
    person,
    plan(rules) {
      plan = createFaultPlan(refuseForeignKinds(rules))
      deaf.is = false
    },
    fired: () => plan.fired,
    commands,
    open: () => ({ imap: imapUp.open(), smtp: smtpUp.open() }),
    cut() {
      imapUp.cut()
      smtpUp.cut()
    },
    async stop() {
      await Promise.all([imapUp.stop(), smtpUp.stop(), pageUp.stop()])
    },
  }
  return fake
}

interface Listening {
  readonly port: number
  open(): number
  cut(): void
  stop(): Promise<void>
}

function listening(server: Server, port: number): Promise<Listening> {
  const sockets = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
  })
  const cut = () => {
    for (const socket of sockets) socket.destroy()
  }
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, '127.0.0.1', () =>
      resolve({
        port: (server.address() as AddressInfo).port,
        open: () => sockets.size,
        cut,
        stop: () =>
          new Promise((ended) => {
            server.close(() => ended())
            cut()
          }),
      }),
    )
  })
}
