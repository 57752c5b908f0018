// Tries a key on the real API with one token, before the set-up writes anything.
import { type Clock, type Options, SwitchboardError } from '../../contract/index.ts'
import { createStreamingFetch, type StreamingFetch } from '../../kit/index.ts'
import { llmOptions } from './config.ts'
import { boundedFetch, mostBytes } from './models/bounded-fetch.ts'
import type { Model } from './models/model.ts'

const TRY_MS = 30_000

/** `options` contain the key itself. Throws the problem, without the key. */
export async function tryModel(
  options: Options,
  { clock }: { readonly clock: Clock },
  fetch: StreamingFetch = createStreamingFetch({ clock, headTimeoutMs: TRY_MS }),
): Promise<{ readonly who: string }> {
  const { api_key: key, ...rest } = options
  const parsed = llmOptions.safeParse({ ...rest, ...(key === undefined ? {} : { api_key: 'secret:tried' }) })
  if (!parsed.success) {
    const issue = parsed.error.issues[0]
    throw new SwitchboardError(
      'input_invalid',
      `${issue?.path.join('.') ?? ''}: ${issue?.message ?? 'malformed'}`,
    )
  }
  const apiKey = typeof key === 'string' ? key.trim() : null
  if (apiKey !== null && !/^[\x21-\x7e]+$/.test(apiKey))
    throw new SwitchboardError('input_invalid', 'that is no API key: it is one word')
  const { provider, base_url, model: name } = parsed.data
  const wire = { apiKey, baseUrl: base_url ?? null, fetch: boundedFetch(fetch, mostBytes(1)), clock }
  const model: Model =
    provider === 'anthropic'
      ? await (await import('./models/anthropic.ts')).createAnthropicModel(wire)
      : await (await import('./models/openai.ts')).createOpenAiModel({
          ...wire,
          compatible: provider !== 'openai',
        })
  const abort = new AbortController()
  const cancel = clock.after(TRY_MS, () => abort.abort())
  try {
    const messages = [{ role: 'user' as const, text: 'Say ok.' }]
    await model.ask({
      model: name,
      system: 'Say ok.',
      messages,
      tools: [],
      maxTokens: 1,
      signal: abort.signal,
    })
  } catch (thrown) {
    if (!abort.signal.aborted) throw thrown
    throw new SwitchboardError('platform_unavailable', `the API did not answer within ${TRY_MS / 1_000} s`)
  } finally {
    cancel()
  }
  return { who: `${name} at ${base_url === undefined ? provider : new URL(base_url).host}` }
}
