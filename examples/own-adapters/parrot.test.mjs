// Runs the connector suite on the parrot.
import { describeConnectorSuite, testConnectorDeps } from 'switchboard/testing'
import { createParrot } from './parrot.mjs'

describeConnectorSuite('parrot', async () => ({
  connector: createParrot(testConnectorDeps({ options: { loud: true } })),
  answerable: 'hello',
  asking: null,
}))
