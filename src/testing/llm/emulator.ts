// The command `switchboard emulate llm`: the fake API with a model that repeats, calls named tools, and streams.
import type { StartEmulator } from '../../contract/index.ts'
import { createFakeLlm } from './fake-llm.ts'

const KEY = 'sk-emulated'

export const emulateLlm: StartEmulator = async ({ port, onBot }) => {
  const fake = createFakeLlm({
    key: KEY,
    onRequest: ({ model, last }) => onBot(`${model} is asked: ${last}`),
  })
  const running = await fake.listen(port)
  return {
    url: running.url,
    token: KEY,
    integration: {},
    connector: {
      type: 'llm',
      provider: 'anthropic',
      base_url: running.url,
      model: 'any',
      api_key: 'env:LLM_KEY',
    },
    environment: { LLM_KEY: KEY },
    more: [
      'Say to the agent: call NAME {"argument": "value"}, and the model calls that tool; anything else is repeated.',
      `OpenAI's wire is at ${running.url}/v1 (provider: openai-compatible).`,
    ],
    says: () => onBot('speak to it through Switchboard'),
    taps: () => onBot('it has no buttons'),
    stop: () => running.close(),
  }
}
