// SMTP: hands a composed mail to the server, which answers yes, not now, or no. If the connection breaks while the mail
// is sent, it is unknown whether the server took it.
import type { Readable } from 'node:stream'
import type { Transporter } from 'nodemailer'
import { type Clock, SwitchboardError, withoutNulls } from '../../../contract/index.ts'
import type { EmailConfig, Timings } from '../config.ts'
import type { AccessTokens } from './oauth.ts'

export interface Smtp {
  /** Resolves when the server took it, with the id that the server gave the mail, if it replaced ours. */
  deliver(mail: { readonly to: string; readonly raw: Buffer }): Promise<{ readonly serverId: string | null }>
  /** Tries connection and login without a mail. Throws as `deliver`. */
  tryLogin(): Promise<void>
  close(): void
}

const MOST_CONNECTIONS = 2

interface SmtpFault {
  readonly code?: string
  /** The command that was refused. */
  readonly command?: string
  readonly responseCode?: number
  readonly response?: string
  readonly originalCode?: string
  readonly message?: string
}

export function createSmtp(
  config: EmailConfig,
  timings: Timings,
  { tokens }: { readonly clock: Clock; readonly tokens: AccessTokens | null },
): Smtp {
  const { smtp } = config
  let made: { readonly transport: Transporter; readonly token: string | null } | null = null

  const auth = (accessToken: string | null) => {
    if (accessToken !== null) return { auth: { type: 'OAuth2' as const, user: smtp.user, accessToken } }
    return smtp.password === null ? {} : { auth: { user: smtp.user, pass: smtp.password } }
  }

  /** Returns the pool. A fresh access token makes a fresh pool. */
  const transport = async (): Promise<Transporter> => {
    const token = smtp.password === null && tokens !== null ? await tokens.get() : null
    if (made !== null && made.token === token) return made.transport
    made?.transport.close()
    const { createTransport } = await import('nodemailer')
    const transporter = createTransport({
      pool: true,
      maxConnections: MOST_CONNECTIONS,
      host: smtp.host,
      port: smtp.port,
      secure: smtp.tls === true,
      requireTLS: smtp.tls === 'starttls',
      ignoreTLS: smtp.tls === false,
      tls: { servername: smtp.host, ...withoutNulls({ ca: smtp.ca }) },
      ...auth(token),
      dnsTimeout: timings.connectMs,
      connectionTimeout: timings.connectMs,
      greetingTimeout: timings.connectMs,
      socketTimeout: timings.sendMs,
      disableFileAccess: true,
      disableUrlAccess: true,
      logger: false,
    } as object)
    // nodemailer reports a broken connection with the same code at every step. Whether it read any byte of the mail
    // shows whether the server may have it.
    transporter.use('stream', (mail, done) => {
      const { message, data } = mail as unknown as { readonly message: ReadableMail; readonly data: Begun }
      const create = message.createReadStream.bind(message)
      message.createReadStream = () => {
        const stream = create()
        data.streams?.push(stream)
        return stream
      }
      done()
    })
    made = { transport: transporter, token }
    return transporter
  }

  const judged = (thrown: unknown, wasRead: boolean): SwitchboardError => {
    if ((thrown as SmtpFault).code === 'EAUTH') tokens?.forget()
    return smtpError(thrown, { busyMs: timings.busyMs, wasRead })
  }

  return {
    async deliver({ to, raw }) {
      const pool = await transport()
      const streams: Readable[] = []
      try {
        const info = (await pool.sendMail({
          envelope: { from: config.address, to: [to], size: raw.length } as { from: string; to: string[] },
          raw,
          streams,
        } as object)) as { readonly serverMessageId?: string }
        return { serverId: info.serverMessageId ?? null }
      } catch (thrown) {
        throw judged(
          thrown,
          streams.some((stream) => stream.readableDidRead),
        )
      }
    },
    async tryLogin() {
      const pool = await transport()
      await pool.verify().catch((thrown: unknown) => {
        throw judged(thrown, false)
      })
    },
    close() {
      made?.transport.close()
      made = null
    },
  }
}

/** Errors for a mail that we composed wrongly. */
const MALFORMED: ReadonlySet<string> = new Set([
  'EENVELOPE',
  'EMESSAGE',
  'ESTREAM',
  'EFILEACCESS',
  'EURLACCESS',
])

interface ReadableMail {
  createReadStream: () => Readable
}

/** One hand-over of the mail to nodemailer, for each connection that was tried. */
interface Begun {
  readonly streams?: Readable[]
}

/** Uses the server's words. `wasRead`: a part of the mail was sent. */
function smtpError(
  thrown: unknown,
  { busyMs, wasRead }: { readonly busyMs: number; readonly wasRead: boolean },
): SwitchboardError {
  if (thrown instanceof SwitchboardError) return thrown
  const {
    code = '',
    command,
    responseCode,
    response,
    originalCode = '',
    message = '',
  } = (thrown ?? {}) as SmtpFault
  const said = (response ?? message).replace(/\s+/g, ' ').trim().slice(0, 400)
  if (code === 'EAUTH')
    return new SwitchboardError('platform_unavailable', `SMTP: the login was refused (${said})`, {
      hint: 'see smtp.user and smtp.password; many providers want an app password or oauth2',
      retryAfterMs: busyMs,
    })
  if (code === 'ETLS' || /TLS handshake/i.test(message))
    return new SwitchboardError('platform_unavailable', `SMTP: ${said || 'no TLS'}`, {
      hint: 'the server offers no STARTTLS: set smtp.tls to true for TLS from the start, or to false for none',
    })
  // Only a refused RCPT TO means that the address cannot be reached. MAIL FROM and DATA are refused for other reasons.
  if (responseCode !== undefined && responseCode >= 500)
    return new SwitchboardError('platform_rejected', said, command === 'RCPT TO' ? { placeGone: true } : {})
  if (responseCode !== undefined && responseCode >= 400)
    return new SwitchboardError('rate_limited', `SMTP: ${said}`, { retryAfterMs: busyMs })
  if (MALFORMED.has(code)) return new SwitchboardError('platform_rejected', said)
  if (!wasRead) return new SwitchboardError('platform_unavailable', `SMTP: ${said || originalCode || code}`)
  return new SwitchboardError('outcome_unknown', `SMTP: ${said || 'no answer'} after the mail was on its way`)
}
