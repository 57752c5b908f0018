// Load on a cluster, and what was acknowledged. Each conversation writes one message after the other, to the nodes in
// turn. A message has a key and is repeated with it until it is acknowledged. There are also people on Telegram.
import type { FakeTelegram } from '../../../src/testing/emulate.ts'
import { CROWD_SECRET } from '../scene.ts'
import { pause } from '../until.ts'
import { TALKERS } from './cluster-scene.ts'

export interface Load {
  /** Acknowledged texts by key, in the order in which each conversation sent them. */
  readonly acknowledged: ReadonlyMap<string, string>
  /** The numbers of answers other than 200, by status. 0 means no answer. */
  readonly refusals: ReadonlyMap<number, number>
  /** The messages of people on Telegram. */
  readonly spoken: readonly string[]
  /** The time of the last acknowledgement. */
  lastAt(): number
  /** Begins no new message. Resolves when every begun message is acknowledged. */
  stop(): Promise<void>
}

export interface LoadOptions {
  readonly urls: readonly string[]
  readonly telegram?: FakeTelegram
  readonly conversations?: number
  /** The time between two messages of one conversation. */
  readonly everyMs?: number
}

const TRY_MS = 2_500
const RETRY_MS = 100
const SPEAK_EVERY_MS = 1_500

export function startLoad(options: LoadOptions): Load {
  const acknowledged = new Map<string, string>()
  const refusals = new Map<number, number>()
  const spoken: string[] = []
  let stopped = false
  let next = 0
  let lastAt = 0

  const send = async (conversation: string, key: string, text: string) => {
    for (;;) {
      const url = options.urls[next++ % options.urls.length]
      const status = await postOnce(`${url}/hooks/crowd`, conversation, key, text)
      if (status === 200) break
      refusals.set(status, (refusals.get(status) ?? 0) + 1)
      // A sender repeats only these. Any other status would be a fault of the gateway.
      if (status !== 0 && status !== 503) throw new Error(`${key} was answered ${status}`)
      await pause(RETRY_MS)
    }
    acknowledged.set(key, text)
    lastAt = Date.now()
  }

  const write = async (conversation: string) => {
    for (let n = 0; !stopped; n += 1) {
      await send(conversation, `${conversation}-${n}`, `${n} of ${conversation}`)
      await pause(options.everyMs ?? 750)
    }
  }
  const speak = async (telegram: FakeTelegram, id: number) => {
    const person = telegram.person({ id, name: `Talker ${id}` })
    for (let n = 0; !stopped; n += 1) {
      spoken.push(`tick ${n} of ${id}`)
      person.says(`tick ${n} of ${id}`)
      await pause(SPEAK_EVERY_MS)
    }
  }
  const { telegram } = options
  const all = [
    ...Array.from({ length: options.conversations ?? 12 }, (_, at) => write(`talk${at}`)),
    ...(telegram ? TALKERS.map((id) => speak(telegram, id)) : []),
  ]
  const done = Promise.all(all)
  // `stop` reports the error. Until then nothing handles it.
  done.catch(() => undefined)
  return {
    acknowledged,
    refusals,
    spoken,
    lastAt: () => lastAt,
    async stop() {
      stopped = true
      await done
    },
  }
}

/** Returns the status, or 0 without an answer. */
async function postOnce(url: string, conversation: string, key: string, text: string): Promise<number> {
  const headers = {
    'content-type': 'text/plain',
    'x-webhook-secret': CROWD_SECRET,
    'x-conversation': conversation,
    'idempotency-key': key,
  }
  try {
    const signal = AbortSignal.timeout(TRY_MS)
    const response = await fetch(url, { method: 'POST', body: text, headers, signal })
    await response.text()
    return response.status
  } catch {
    return 0
  }
}
