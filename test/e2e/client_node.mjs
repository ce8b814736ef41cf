// The JavaScript client library against a workspace: objects, built-in and of a kind of its own,
// patches, and an informer across a restart of the server.
//
// Usage: client_node.mjs LIBRARY KUBECONFIG SERVER FOLDER
//
// Asks for the restart by creating FOLDER/restart and goes on when FOLDER/restarted is there.
import fs from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

const [library, kubeconfig, server, folder] = process.argv.slice(2);
const k8s = await import(pathToFileURL(path.join(library, 'dist/index.js')));
const config = new k8s.KubeConfig();
config.loadFromFile(kubeconfig);
config.clusters = config.clusters.map((cluster) => ({ ...cluster, server }));
const core = config.makeApiClient(k8s.CoreV1Api);
const apps = config.makeApiClient(k8s.AppsV1Api);
const any = k8s.KubernetesObjectApi.makeApiClient(config);
const namespace = 'node';

function check(condition, what) {
  if (!condition) {
    console.error(`FAILED: ${what}`);
    process.exit(1);
  }
}

async function eventually(condition, what) {
  const end = Date.now() + 60000;
  while (!(await condition())) {
    check(Date.now() < end, what);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

async function refused(code, promise) {
  try {
    await promise;
  } catch (error) {
    check(error.code === code, `${error.code} instead of ${code}: ${error.body ?? error}`);
    return error;
  }
  check(false, `accepted what must be ${code}`);
}

const configMap = (name, data) => ({ metadata: { name }, data });

await core.createNamespace({ body: { metadata: { name: namespace } } });
const seen = new Map();
const informer = k8s.makeInformer(config, `/api/v1/namespaces/${namespace}/configmaps`, () =>
  core.listNamespacedConfigMap({ namespace }));
informer.on('add', (object) => seen.set(object.metadata.name, object.metadata.resourceVersion));
informer.on('update', (object) => seen.set(object.metadata.name, object.metadata.resourceVersion));
informer.on('delete', (object) => seen.delete(object.metadata.name));
let errors = 0;
informer.on('error', () => {
  ++errors;
  setTimeout(() => informer.start().catch(() => {}), 200);
});
await informer.start();

const made = await core.createNamespacedConfigMap({ namespace, body: configMap('a', { colour: 'red' }) });
check(made.metadata.uid && made.metadata.creationTimestamp, 'what the server fills in');
await refused(409, core.createNamespacedConfigMap({ namespace, body: configMap('a', {}) }));
await refused(404, core.readNamespacedConfigMap({ namespace, name: 'none' }));
made.data.colour = 'blue';
const changed = await core.replaceNamespacedConfigMap({ namespace, name: 'a', body: made });
check(changed.data.colour === 'blue', 'replace');
await refused(409, core.replaceNamespacedConfigMap({ namespace, name: 'a', body: made }));

// Every type of patch, chosen by its media type.
const a = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a', namespace } };
await any.patch({ ...a, data: { size: '9' } }, undefined, undefined, undefined, undefined,
  k8s.PatchStrategy.MergePatch);
await any.patch({ ...a, data: { colour: null } }, undefined, undefined, undefined, undefined,
  k8s.PatchStrategy.StrategicMergePatch);
await core.patchNamespacedConfigMap({ namespace, name: 'a',
  body: [{ op: 'add', path: '/data/note', value: 'x' }] });
const patched = await core.readNamespacedConfigMap({ namespace, name: 'a' });
check(JSON.stringify(patched.data) === '{"note":"x","size":"9"}', `patches: ${JSON.stringify(patched.data)}`);
const b = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'b', namespace }, data: { x: '1' } };
const apply = (object, manager, force) =>
  any.patch(object, undefined, undefined, manager, force, k8s.PatchStrategy.ServerSideApply);
check((await apply(b, 'one')).metadata.managedFields[0].operation === 'Apply', 'apply creates');
b.data.x = '2';
await refused(409, apply(b, 'two'));
check((await apply(b, 'two', true)).data.x === '2', 'forced apply');

const labels = { app: 'web' };
const deployment = { metadata: { name: 'web' }, spec: { selector: { matchLabels: labels },
  template: { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'i' }] } } } };
check((await apps.createNamespacedDeployment({ namespace, body: deployment })).spec.replicas === 1, 'defaults');
const scale = await apps.readNamespacedDeploymentScale({ namespace, name: 'web' });
scale.spec.replicas = 3;
check((await apps.replaceNamespacedDeploymentScale({ namespace, name: 'web', body: scale })).spec.replicas === 3,
  'scale');
const definitions = config.makeApiClient(k8s.ApiextensionsV1Api);
const custom = config.makeApiClient(k8s.CustomObjectsApi);
const schema = { type: 'object', properties: {
  spec: { type: 'object', properties: { size: { type: 'integer' }, colour: { type: 'string', _default: 'red' } } },
  status: { type: 'object', properties: { phase: { type: 'string' } } } } };
await definitions.createCustomResourceDefinition({ body: {
  metadata: { name: 'tools.node.example.com' },
  spec: { group: 'node.example.com', scope: 'Namespaced', names: { plural: 'tools', kind: 'Tool' },
    versions: [{ name: 'v1', served: true, storage: true, subresources: { status: {} },
      schema: { openAPIV3Schema: schema } }] } } });
const tools = { group: 'node.example.com', version: 'v1', namespace, plural: 'tools' };
await eventually(() => custom.listNamespacedCustomObject(tools).then(() => true, () => false), 'the definition');
const tool = (name, spec) => ({ apiVersion: 'node.example.com/v1', kind: 'Tool', metadata: { name, namespace }, spec });
const saw = await custom.createNamespacedCustomObject({ ...tools, body: tool('saw', { size: 1 }) });
check(saw.spec.colour === 'red' && saw.metadata.generation === 1, 'defaults of a custom resource');
await refused(422, custom.createNamespacedCustomObject({ ...tools, body: tool('axe', { size: 'large' }) }));
saw.spec.size = 2;
await custom.replaceNamespacedCustomObject({ ...tools, name: 'saw', body: saw });
await refused(409, custom.replaceNamespacedCustomObject({ ...tools, name: 'saw', body: saw }));
await custom.patchNamespacedCustomObject({ ...tools, name: 'saw',
  body: [{ op: 'replace', path: '/spec/colour', value: 'blue' }] });
await any.patch(tool('saw', { size: 3 }), undefined, undefined, undefined, undefined, k8s.PatchStrategy.MergePatch);
await custom.patchNamespacedCustomObjectStatus({ ...tools, name: 'saw',
  body: [{ op: 'add', path: '/status', value: { phase: 'sharp' } }] });
const read = await any.read(tool('saw'));
check(read.spec.size === 3 && read.spec.colour === 'blue' && read.status.phase === 'sharp',
  `a custom resource: ${JSON.stringify(read)}`);
await custom.deleteNamespacedCustomObject({ ...tools, name: 'saw' });
await refused(404, custom.getNamespacedCustomObject({ ...tools, name: 'saw' }));

for (let i = 0; i < 20; ++i) {
  await core.createNamespacedConfigMap({ namespace, body: configMap(`n${100 + i}`, {}) });
}
const page = await core.listNamespacedConfigMap({ namespace, limit: 7 });
check(page.items.length === 7 && page.metadata._continue, 'page');

await eventually(() => [...seen.keys()].filter((name) => name !== 'kube-root-ca.crt').length === 22, 'the informer follows');
fs.writeFileSync(path.join(folder, 'restart'), '');
await eventually(() => fs.existsSync(path.join(folder, 'restarted')), 'the restart');
await core.createNamespacedConfigMap({ namespace, body: configMap('after', {}) });
await core.deleteNamespacedConfigMap({ namespace, name: 'n100' });
await core.patchNamespacedConfigMap({ namespace, name: 'n101',
  body: [{ op: 'add', path: '/data', value: { i: 'changed' } }] });
await eventually(async () => {
  const { items } = await core.listNamespacedConfigMap({ namespace });
  return items.length === seen.size &&
    items.every((object) => seen.get(object.metadata.name) === object.metadata.resourceVersion);
}, `the informer is what the server has, after a restart (${errors} errors)`);
await informer.stop();
await definitions.deleteCustomResourceDefinition({ name: 'tools.node.example.com' });
await core.deleteNamespace({ name: namespace });
console.log('the JavaScript client library works');
process.exit(0);
