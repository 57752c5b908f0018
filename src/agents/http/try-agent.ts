// The trial of an http agent before it is stored: one signed POST like any turn, marked as a test, and its answer.
import { type Clock, type Options, SwitchboardError } from '../../contract/index.ts'
import { createStreamingFetch } from '../../kit/index.ts'
import { httpOptions, SIGNING_HINT, signingKey } from './config.ts'
import { post } from './post.ts'
import { readAnswer } from './read-answer.ts'

const TRY_MS = 15_000
const SHOWN_CHARS = 60

/** Returns which agent answered, and what. Throws the problem, without URL or secret. */
export async function tryAgent(
  given: Options,
  { clock }: { readonly clock: Clock },
): Promise<{ readonly who: string }> {
  const { secret, ...rest } = given
  const parsed = httpOptions.omit({ secret: true }).safeParse(rest)
  if (!parsed.success) throw new SwitchboardError('input_invalid', 'url: expected a URL')
  const { url, mode, allow_private: allowPrivate } = parsed.data
  const key = typeof secret === 'string' ? signingKey(secret) : undefined
  if (key === null)
    throw new SwitchboardError('input_invalid', 'secret: this is no Standard Webhooks secret', {
      hint: SIGNING_HINT,
    })
  const abort = new AbortController()
  const cancel = clock.after(TRY_MS, () => abort.abort())
  try {
    const reach = createStreamingFetch({ clock, allowPrivate, headTimeoutMs: TRY_MS })
    const id = `test_${clock.now()}`
    const config = { url, keys: key ? [key] : [] }
    const response = await post(
      { config, id, body: trial(id, clock.now()), signal: abort.signal, now: clock.now() },
      reach,
    )
    if (response === 'aborted') throw new SwitchboardError('platform_unavailable', 'no answer came in time')
    const { host } = new URL(url)
    if (response.status === 202 || mode === 'later') {
      await response.body?.cancel().catch(() => undefined)
      return { who: `${host}, which takes the POST and answers later` }
    }
    const quiet = { partial: () => undefined, status: () => undefined }
    const { headers, body } = response
    const answer = await readAnswer(
      {
        contentType: headers.get('content-type'),
        contentEncoding: headers.get('content-encoding'),
        chunks: body ?? NOTHING,
      },
      quiet,
    )
    if (answer.kind !== 'answer')
      throw new SwitchboardError('agent_failed', `it was reached, but ${answer.detail}`)
    const [text] = answer.texts
    return {
      who:
        text === undefined
          ? `${host}, which answers without words`
          : `${host}, which answers "${shown(text)}"`,
    }
  } finally {
    cancel()
  }
}

const NOTHING: AsyncIterable<Uint8Array> = { async *[Symbol.asyncIterator]() {} }

/** Returns all fields of a turn, except those that need a real one. */
function trial(id: string, now: number): string {
  return JSON.stringify({
    ...{
      id,
      test: true,
      session: '00000000-0000-4000-8000-000000000000',
      agent: 'test',
      sender: 'switchboard',
    },
    ...{ address: 'test:test', platform: 'test', integration: 'test', source: 'test:test', message_id: id },
    ...{ text: 'Are you there?', attachments: [], meta: {}, context: [], ts: new Date(now).toISOString() },
  })
}

function shown(text: string): string {
  const line = text.replace(/[\p{Cc}\s]+/gu, ' ').trim()
  return line.length > SHOWN_CHARS ? `${line.slice(0, SHOWN_CHARS)}…` : line
}
