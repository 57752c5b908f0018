// The platform `email`: reads a mailbox by IMAP, sends by SMTP, and uses Sent and the mailbox as its memory.
import type { Abilities, PlatformAdapter, PlatformDeps } from '../../contract/index.ts'
import {
  createCarefulReader,
  createTaskWorker,
  type Link,
  type LinkState,
  workerFile,
} from '../../kit/index.ts'
import { createAnswerLimit } from './answer-limit.ts'
import { DEFAULT_TIMINGS, readConfig, type Timings } from './config.ts'
import { createEmailFiles } from './files.ts'
import { createForgeryTrial } from './forgery-trial.ts'
import { seenGates } from './gates.ts'
import { createHistory } from './history.ts'
import { connectImap } from './link/imap-client.ts'
import { startMailboxLink } from './link/mailbox-link.ts'
import { createAccessTokens } from './link/oauth.ts'
import { createSentFolder } from './link/sent-folder.ts'
import { createSideConnection } from './link/side-connection.ts'
import { createSmtp } from './link/smtp.ts'
import { systemTxt, type TxtLookUp } from './mail/dkim.ts'
import { createMailReader } from './mail/mail-reader.ts'
import { createMessageIds } from './mail/message-ids.ts'
import { emailMarkdown, TEXT_LIMIT } from './render.ts'
import { createSend } from './send.ts'

const ABILITIES: Abilities = {
  textLimit: TEXT_LIMIT,
  markdown: emailMarkdown,
  threads: true,
  files: true,
  replies: true,
  // Most mail programs show a repeated Message-ID twice. Sent mails are looked up in the folder Sent.
  idempotentSend: false,
}

export interface EmailAdapterOptions {
  readonly timings?: Partial<Timings>
  /** Looks up TXT records for DKIM keys. */
  readonly txt?: TxtLookUp
}

/** Throws `config_invalid` for invalid options. Timings and DNS are for tests. */
export function createEmail(deps: PlatformDeps, options: EmailAdapterOptions = {}): PlatformAdapter {
  const { clock, log, transcript } = deps
  const config = readConfig(deps)
  const timings = { ...DEFAULT_TIMINGS, ...options.timings }
  const tokens = config.oauth === null ? null : createAccessTokens(config.oauth, clock)
  const connect = () => connectImap(config, timings, { clock, tokens })
  const side = createSideConnection({
    connect,
    clock,
    commandMs: timings.commandMs,
    idleMs: timings.sideIdleMs,
  })
  const worker = createTaskWorker({ file: workerFile('platforms/email/mail/mail-worker') })
  const carefully = createCarefulReader(worker, deps.tries)
  const ids = createMessageIds(config.domain, deps.sign)
  const shared = { config, timings, clock, log, side, carefully, ids }
  const reader = createMailReader({
    ...shared,
    transcript,
    mayTalk: deps.mayTalk ?? (() => true),
    txt: options.txt ?? systemTxt,
  })
  const smtp = createSmtp(config, timings, { clock, tokens })
  const files = createEmailFiles(shared, deps)
  const sent = createSentFolder(shared)
  const threading = { address: config.address, ids, transcript }
  const limit = createAnswerLimit(deps, {
    perHour: config.options.answers_per_hour,
    perMinute: perMinute(config.smtp.host),
  })
  let state: LinkState = { state: 'connecting' }
  let link: Link | null = null

  return {
    abilities: ABILITIES,
    pace: limit.pace,
    async start(intake, cursor) {
      await limit.recall()
      link = startMailboxLink(cursor, {
        ...shared,
        connect,
        reader,
        intake,
        random: deps.random,
        lease: deps.lease,
        tell(next) {
          state = next
        },
      })
    },
    send: createSend({
      ...{ config, smtp, files, sent, threading },
      publicUrl: deps.publicUrl?.replace(/(?<!\/)\/+$/, '') || null,
    }),
    reconcile: sent.reconcile,
    history: createHistory({ ...shared, reader }),
    link: {
      state: () => state,
      renew: (cause) => link?.renew(cause),
      probe: async () => (link === null ? 'deaf' : link.probe()),
    },
    files: {
      keep: (file) => files.keep(file),
      download: (attachment) => files.download(attachment),
      forget: ({ attachments }) => files.forget(attachments),
    },
    checks: {
      gates: () => seenGates(deps.integration.origin, reader.misplaced()),
      trial: createForgeryTrial({ ...shared, smtp, random: deps.random }),
    },
    async stop() {
      await link?.stop()
      link = null
      side.close()
      worker.close()
      smtp.close()
    },
  }
}

/** Microsoft accepts thirty mails a minute. Other providers state no number. */
function perMinute(host: string): number {
  return /(^|\.)(office365|outlook)\.com$/.test(host) ? 30 : 300
}
