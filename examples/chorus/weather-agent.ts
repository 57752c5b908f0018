// A Chorus agent in twenty lines: give `http://…/inbox/SECRET` to any Chorus service, and it answers.
import { createServer } from 'node:http'
import { createAgent } from '../../src/chorus/index.ts' // in your project: 'switchboard/chorus'

export function weatherAgent(secret: string, allowPrivate = false) {
  const agent = createAgent({
    secret,
    allowPrivate,
    async onMessage(message, voice) {
      if (!/weather/i.test(message.content))
        return voice.say(`Hello ${message.sender}! Ask me about the weather.`)
      await voice.status('searching weather data')
      const call = await voice.toolCall('web_search', { query: 'oslo weather' })
      await voice.toolResult(call, 'Oslo: 3°C, cloudy, wind 5m/s NW')
      await voice.say('The weather in Oslo is 3°C and cloudy.')
    },
  })
  return createServer(agent.node)
}
