"""Google Cloud Datastore in the schema of TensorFlow's uploader: kinds ``Test`` and ``Entry``.

settings: the database and the credentials, by the environment. connection: the calls, and what
their errors mean. sink: publish, a document as mutations, cut to what fits. reader: read back.
"""
