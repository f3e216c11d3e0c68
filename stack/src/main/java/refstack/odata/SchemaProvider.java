package refstack.odata;

import java.util.List;
import java.util.function.Function;
import java.util.stream.Stream;
import org.apache.olingo.odata2.api.edm.FullQualifiedName;
import org.apache.olingo.odata2.api.edm.provider.Association;
import org.apache.olingo.odata2.api.edm.provider.AssociationSet;
import org.apache.olingo.odata2.api.edm.provider.AssociationSetEnd;
import org.apache.olingo.odata2.api.edm.provider.EdmProvider;
import org.apache.olingo.odata2.api.edm.provider.EntityContainer;
import org.apache.olingo.odata2.api.edm.provider.EntityContainerInfo;
import org.apache.olingo.odata2.api.edm.provider.EntitySet;
import org.apache.olingo.odata2.api.edm.provider.EntityType;
import org.apache.olingo.odata2.api.edm.provider.Schema;

/** Answers Olingo's questions about a model out of its schemas. */
class SchemaProvider extends EdmProvider {

    private final List<Schema> schemas;

    SchemaProvider(List<Schema> schemas) {
        this.schemas = schemas;
    }

    @Override
    public List<Schema> getSchemas() {
        return schemas;
    }

    @Override
    public EntityType getEntityType(FullQualifiedName name) {
        return find(name, Schema::getEntityTypes, EntityType::getName);
    }

    @Override
    public Association getAssociation(FullQualifiedName name) {
        return find(name, Schema::getAssociations, Association::getName);
    }

    /** The container of this name; the default one for none. */
    @Override
    public EntityContainerInfo getEntityContainerInfo(String name) {
        return container(name);
    }

    @Override
    public EntitySet getEntitySet(String container, String name) {
        EntityContainer owner = container(container);
        return owner == null ? null : owner.getEntitySets().stream()
                .filter(set -> set.getName().equals(name)).findFirst().orElse(null);
    }

    @Override
    public AssociationSet getAssociationSet(String container, FullQualifiedName association,
            String sourceEntitySet, String sourceRole) {
        return container(container).getAssociationSets().stream()
                .filter(set -> set.getAssociation().equals(association))
                .filter(set -> isEnd(set.getEnd1(), sourceEntitySet, sourceRole)
                        || isEnd(set.getEnd2(), sourceEntitySet, sourceRole))
                .findFirst().orElse(null);
    }

    private static boolean isEnd(AssociationSetEnd end, String entitySet, String role) {
        return end.getEntitySet().equals(entitySet) && end.getRole().equals(role);
    }

    private EntityContainer container(String name) {
        Stream<EntityContainer> all = schemas.stream()
                .flatMap(schema -> schema.getEntityContainers().stream());
        return all.filter(container -> name == null ? container.isDefaultEntityContainer()
                : container.getName().equals(name)).findFirst().orElse(null);
    }

    private <T> T find(FullQualifiedName name, Function<Schema, List<T>> kind,
            Function<T, String> nameOf) {
        return schemas.stream()
                .filter(schema -> schema.getNamespace().equals(name.getNamespace()))
                .flatMap(schema -> kind.apply(schema).stream())
                .filter(element -> nameOf.apply(element).equals(name.getName()))
                .findFirst().orElse(null);
    }
}
