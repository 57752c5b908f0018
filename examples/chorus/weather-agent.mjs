// A Chorus agent in twenty lines: give `http://…/inbox/SECRET` to any Chorus service, and it answers.
// Run it with: PORT=8080 node weather-agent.mjs
import { createServer } from 'node:http'
import { createAgent } from 'switchboard/chorus'

const secret = process.env.SECRET ?? 'sk_a1b2c3d4e5f6'
const agent = createAgent({
  secret,
  allowPrivate: true, // while the service is on this machine; leave it out on the internet
  async onMessage(message, voice) {
    if (!/weather/i.test(message.content))
      return voice.say(`Hello ${message.sender}! Ask me about the weather.`)
    await voice.status('searching weather data')
    const call = await voice.toolCall('web_search', { query: 'oslo weather' })
    await voice.toolResult(call, 'Oslo: 3°C, cloudy, wind 5m/s NW')
    await voice.say('The weather in Oslo is 3°C and cloudy.')
  },
})

const server = createServer(agent.node).listen(Number(process.env.PORT ?? 8080), '127.0.0.1', () =>
  console.log(`http://127.0.0.1:${server.address().port}/inbox/${secret}`),
)
