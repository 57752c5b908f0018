// Peer (c): Slack's own Bolt, as a server for the Events API: it checks Slack's signature, parses, acknowledges and calls
// the handler, which does nothing. It stores nothing. Who it is was told beforehand, so it need not ask Slack.
// Plain JavaScript, because its types are there only once `bench/peers` is installed.
import bolt from '@slack/bolt'

const silent = {
  debug() {},
  info() {},
  warn() {},
  error() {},
  setLevel() {},
  getLevel: () => bolt.LogLevel.ERROR,
  setName() {},
}
const receiver = new bolt.HTTPReceiver({
  signingSecret: process.env.BENCH_SECRET,
  endpoints: '/hooks/bench',
  logger: silent,
})
const app = new bolt.App({
  receiver,
  logger: silent,
  // Nothing leaves this machine: a call to Slack would fail here.
  clientOptions: { slackApiUrl: 'http://127.0.0.1:9/api/' },
  authorize: async () => ({ botToken: 'xoxb-bench', botId: 'B00000001', botUserId: 'U99999999' }),
})
app.message(async () => {})

const server = await app.start({ port: 0, host: '127.0.0.1' })
console.log(JSON.stringify({ url: `http://127.0.0.1:${server.address().port}` }))
process.on('SIGTERM', () => process.exit(0))
